// Two ways to find pieces of a vocabulary: by their whole text, and as the longest one that a text starts with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/tokenizer.hpp"

namespace lastbit::text {

inline constexpr TokenId kNoToken = -1;

/// From a piece's text to its id: open addressing with linear probing in one allocation, since filling it is part of
/// every start (262144 pieces in Gemma) and a look-up is the inner step of every merge. Keeps views: the text of the
/// pieces must outlive the table.
class PieceTable {
 public:
  explicit PieceTable(std::size_t pieces);
  /// Adds a piece and returns kNoToken, or returns the id that holds this text already. At most `pieces` may be added.
  TokenId insert(std::string_view piece, TokenId id);
  /// The id of this text, or kNoToken.
  TokenId find(std::string_view piece) const;

 private:
  struct Slot {
    std::string_view piece;
    TokenId id = kNoToken;
    std::uint32_t tag = 0;  // the upper half of the hash: spares nearly all comparisons of different texts
  };
  const Slot& slot_of(std::string_view piece, std::uint64_t hash) const;
  std::vector<Slot> slots_;  // a power of two, at least twice as many as pieces
};

/// The longest piece that a text starts with: a byte trie. It serves the few hundred user-defined and the few thousand
/// control pieces, that nearly no position of a text starts with.
class PieceTrie {
 public:
  PieceTrie();
  /// Adds a piece that is not empty and returns kNoToken, or returns the id that holds this text already.
  TokenId insert(std::string_view piece, TokenId id);
  struct Match {
    TokenId id = kNoToken;
    std::size_t length = 0;
  };
  /// The longest piece at the start of `text`; id kNoToken where there is none. Time: the length of the match's path.
  Match longest_prefix(std::string_view text) const;

 private:
  static constexpr std::uint32_t kNoNode = 0;
  struct Node {
    std::uint32_t first_child = kNoNode;
    std::uint32_t next_sibling = kNoNode;
    TokenId id = kNoToken;
    char byte = 0;
  };
  std::uint32_t child_of(std::uint32_t parent, char byte) const;
  std::uint32_t add_child(std::uint32_t parent, char byte);
  std::vector<Node> nodes_;                // nodes_[0] is nobody
  std::vector<std::uint32_t> root_nodes_;  // by first byte
};

}  // namespace lastbit::text
