// From a description to weights that the kernels can run.
#pragma once

#include <cstddef>
#include <functional>

#include "base/thread_pool.hpp"
#include "blocks/decoder.hpp"
#include "families/describe.hpp"

namespace lastbit::families {

/// Called after each tensor with the number done and the total.
using LoadProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Packs every matrix and widens every norm. Scales that are not finite are ErrorKind::input (rule A3). The token
/// embedding still points into the file, which must outlive the weights.
blocks::DecoderWeights load_weights(const formats::GgufFile& file, const Description& description, ThreadPool& pool,
                                    const LoadProgress& progress);

}  // namespace lastbit::families
