// Large zero-filled memory on huge pages where the system grants them: weights and scratch that are read at the pace of
// the memory. (With 4 KiB pages the translation of addresses costs a quarter of the read bandwidth, and first touch
// takes three times as long.)
#pragma once

#include <cstddef>
#include <memory>

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

/// A piece of a buffer that lives as long as any of its pieces.
struct HugePageSlice {
  std::shared_ptr<HugePageBuffer> owner;
  std::byte* data = nullptr;  // 64-byte aligned, zero-filled
};

/// A piece that is a whole buffer.
HugePageSlice whole_buffer(std::size_t size);

/// Cuts pieces one behind the other from large buffers: matrices of a few hundred kilobytes then lie on huge pages as
/// well, and what is fetched ahead at the end of one is the beginning of the next. Not thread-safe.
class HugePageArena {
 public:
  HugePageSlice take(std::size_t size);

 private:
  std::shared_ptr<HugePageBuffer> current_;
  std::size_t used_ = 0;
};

}  // namespace lastbit::kernels
