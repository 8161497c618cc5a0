#include "engine/key_value_cache.hpp"

#include <utility>

namespace lastbit::engine {

using kernels::kPagePositions;

PageAllocator::PageAllocator(const blocks::DecoderConfig& config)
    : layers_(config.layers.size()), layer_elements_(config.key_value_size() * kPagePositions) {}

std::shared_ptr<Page> PageAllocator::allocate() {
  if (!free_.empty()) {
    std::shared_ptr<Page> page = std::move(free_.back());
    free_.pop_back();
    return page;
  }
  auto page = std::make_shared<Page>();
  page->storage.resize(2 * layers_ * layer_elements_);
  return page;
}

void PageAllocator::recycle(std::shared_ptr<Page> page) { free_.push_back(std::move(page)); }

Sequence::Sequence(PageAllocator& allocator) : allocator_(allocator), layers_(allocator.layers()) {}

Sequence::~Sequence() {
  for (std::shared_ptr<Page>& page : pages_) allocator_.recycle(std::move(page));
}

void Sequence::reserve(std::size_t tokens) {
  const std::size_t needed = (length_ + tokens + kPagePositions - 1) / kPagePositions;
  while (pages_.size() < needed) {
    pages_.push_back(allocator_.allocate());
    float* storage = pages_.back()->storage.data();
    for (blocks::LayerPages& layer : layers_) {
      layer.keys.push_back(storage);
      layer.values.push_back(storage + allocator_.layer_elements());
      storage += 2 * allocator_.layer_elements();
    }
  }
}

}  // namespace lastbit::engine
