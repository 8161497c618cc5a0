// Large zero-filled memory on huge pages where the system grants them: weights and scratch that are read at the pace of
// the memory. (With 4 KiB pages the translation of addresses costs a quarter of the read bandwidth, and first touch
// takes three times as long.)
#pragma once

#include <cstddef>

namespace lastbit::kernels {

class HugePageBuffer {
 public:
  HugePageBuffer() = default;
  /// `size` bytes, all zero; aligned to 2 MiB from that size on, to a page below. ErrorKind::environment if the system
  /// has no memory. Size 0 allocates nothing.
  explicit HugePageBuffer(std::size_t size);
  ~HugePageBuffer();
  HugePageBuffer(HugePageBuffer&& other) noexcept;
  HugePageBuffer& operator=(HugePageBuffer&& other) noexcept;
  HugePageBuffer(const HugePageBuffer&) = delete;
  HugePageBuffer& operator=(const HugePageBuffer&) = delete;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  void swap(HugePageBuffer& other) noexcept;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace lastbit::kernels
