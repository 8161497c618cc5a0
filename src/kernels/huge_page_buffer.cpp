#include "kernels/huge_page_buffer.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.hpp"

namespace lastbit::kernels {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// mmap aligns to a page only, so a huge page more is mapped and what surrounds the aligned part is given back.
std::byte* map_aligned(std::size_t size, std::size_t alignment) {
  if (size > std::numeric_limits<std::size_t>::max() - alignment) return nullptr;
  const std::size_t mapped_size = alignment == 0 ? size : size + alignment;
  void* mapped = ::mmap(nullptr, mapped_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  std::byte* const begin = static_cast<std::byte*>(mapped);
  if (alignment == 0) return begin;
  const std::size_t misalignment = reinterpret_cast<std::uintptr_t>(begin) % alignment;
  const std::size_t before = misalignment == 0 ? 0 : alignment - misalignment;
  const std::size_t behind = mapped_size - before - size;
  if (before > 0) ::munmap(begin, before);
  if (behind > 0) ::munmap(begin + before + size, behind);
  return begin + before;
}

}  // namespace

HugePageBuffer::HugePageBuffer(std::size_t size) {
  if (size == 0) return;
  constexpr std::size_t kPage = 4096;
  const bool huge = size >= kHugePage;
  const std::size_t unit = huge ? kHugePage : kPage;
  const std::size_t rounded =
      size > std::numeric_limits<std::size_t>::max() - unit ? size : (size + unit - 1) / unit * unit;
  data_ = map_aligned(rounded, huge ? kHugePage : 0);
  if (data_ == nullptr) {
    throw_environment(fmt::format("cannot allocate {} bytes of memory: {}", size, std::strerror(ENOMEM)));
  }
  size_ = rounded;
  if (huge) ::madvise(data_, rounded, MADV_HUGEPAGE);  // advice: a system without huge pages is slower, not wrong
}

HugePageBuffer::~HugePageBuffer() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

HugePageBuffer::HugePageBuffer(HugePageBuffer&& other) noexcept { swap(other); }

HugePageBuffer& HugePageBuffer::operator=(HugePageBuffer&& other) noexcept {
  HugePageBuffer released(std::move(other));
  swap(released);
  return *this;
}

void HugePageBuffer::swap(HugePageBuffer& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
}

HugePageSlice whole_buffer(std::size_t size) {
  auto buffer = std::make_shared<HugePageBuffer>(size);
  std::byte* const data = buffer->data();
  return {std::move(buffer), data};
}

HugePageSlice HugePageArena::take(std::size_t size) {
  constexpr std::size_t kChunk = std::size_t{16} << 20;
  constexpr std::size_t kLine = 64;
  if (size > kChunk / 2) return whole_buffer(size);
  const std::size_t rounded = (size + kLine - 1) / kLine * kLine;
  if (current_ == nullptr || current_->size() - used_ < rounded) {
    current_ = std::make_shared<HugePageBuffer>(kChunk);
    used_ = 0;
  }
  std::byte* const data = current_->data() + used_;
  used_ += rounded;
  return {current_, data};
}

}  // namespace lastbit::kernels
