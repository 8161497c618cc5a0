#include "text/piece_table.hpp"

#include <bit>
#include <functional>

namespace lastbit::text {
namespace {

std::uint64_t hash_of(std::string_view piece) { return std::hash<std::string_view>{}(piece); }
std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

}  // namespace

PieceTable::PieceTable(std::size_t pieces) : slots_(std::bit_ceil(2 * pieces + 1)) {}

const PieceTable::Slot& PieceTable::slot_of(std::string_view piece, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t index = static_cast<std::size_t>(hash) & mask;
  while (slots_[index].id != kNoToken && (slots_[index].tag != tag_of(hash) || slots_[index].piece != piece)) {
    index = (index + 1) & mask;
  }
  return slots_[index];
}

TokenId PieceTable::insert(std::string_view piece, TokenId id) {
  const std::uint64_t hash = hash_of(piece);
  Slot& slot = const_cast<Slot&>(slot_of(piece, hash));
  if (slot.id != kNoToken) return slot.id;
  slot = {piece, id, tag_of(hash)};
  return kNoToken;
}

TokenId PieceTable::find(std::string_view piece) const { return slot_of(piece, hash_of(piece)).id; }

PieceTrie::PieceTrie() : nodes_(1), root_nodes_(256, kNoNode) {}

std::uint32_t PieceTrie::child_of(std::uint32_t parent, char byte) const {
  if (parent == kNoNode) return root_nodes_[static_cast<unsigned char>(byte)];
  std::uint32_t child = nodes_[parent].first_child;
  while (child != kNoNode && nodes_[child].byte != byte) child = nodes_[child].next_sibling;
  return child;
}

std::uint32_t PieceTrie::add_child(std::uint32_t parent, char byte) {
  const auto child = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({kNoNode, kNoNode, kNoToken, byte});
  if (parent == kNoNode) {
    root_nodes_[static_cast<unsigned char>(byte)] = child;
  } else {
    nodes_[child].next_sibling = nodes_[parent].first_child;
    nodes_[parent].first_child = child;
  }
  return child;
}

TokenId PieceTrie::insert(std::string_view piece, TokenId id) {
  std::uint32_t node = kNoNode;
  for (const char byte : piece) {
    const std::uint32_t child = child_of(node, byte);
    node = child != kNoNode ? child : add_child(node, byte);
  }
  if (nodes_[node].id != kNoToken) return nodes_[node].id;
  nodes_[node].id = id;
  return kNoToken;
}

PieceTrie::Match PieceTrie::longest_prefix(std::string_view text) const {
  Match match;
  std::uint32_t node = kNoNode;
  for (std::size_t length = 0; length < text.size();) {
    node = child_of(node, text[length++]);
    if (node == kNoNode) break;
    if (nodes_[node].id != kNoToken) match = {nodes_[node].id, length};
  }
  return match;
}

}  // namespace lastbit::text
