// Pages of keys and values: 128 positions of every layer, allocated as a sequence grows, reused when it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "blocks/decoder.hpp"
#include "blocks/key_value_pages.hpp"

namespace lastbit::engine {

/// One page: for every layer the keys [key_value_heads][head_dim][128], then the values
/// [key_value_heads][128][head_dim].
struct Page {
  std::vector<float> storage;
};

class PageAllocator {
 public:
  explicit PageAllocator(const blocks::DecoderConfig& config);

  std::shared_ptr<Page> allocate();
  void recycle(std::shared_ptr<Page> page);

  std::size_t layers() const { return layers_; }
  /// Elements of the keys (or of the values) of one layer in one page.
  std::size_t layer_elements() const { return layer_elements_; }
  std::uint64_t page_bytes() const { return 2 * layers_ * layer_elements_ * sizeof(float); }

 private:
  std::size_t layers_;
  std::size_t layer_elements_;
  std::vector<std::shared_ptr<Page>> free_;
};

/// The tokens of one sequence that have been read so far, as their keys and values.
class Sequence {
 public:
  explicit Sequence(PageAllocator& allocator);
  ~Sequence();
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  /// The position of the next token.
  std::size_t length() const { return length_; }
  /// Allocates the pages for `tokens` more positions.
  void reserve(std::size_t tokens);
  /// After a pass wrote them.
  void advance(std::size_t tokens) { length_ += tokens; }
  const std::vector<blocks::LayerPages>& layers() const { return layers_; }

 private:
  PageAllocator& allocator_;
  std::size_t length_ = 0;
  std::vector<std::shared_ptr<Page>> pages_;
  std::vector<blocks::LayerPages> layers_;
};

}  // namespace lastbit::engine
