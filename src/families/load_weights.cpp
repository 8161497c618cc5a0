#include "families/load_weights.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "numerics/dequantize.hpp"

namespace lastbit::families {
namespace {

using blocks::DecoderWeights;
using blocks::LayerWeights;
using blocks::NormWeight;
using kernels::PackedMatrix;

class Loader {
 public:
  Loader(const formats::GgufFile& file, DecoderWeights& weights, ThreadPool& pool)
      : file_(file), weights_(weights), pool_(pool) {}

  void load(const TensorBinding& binding) {
    const formats::TensorView& tensor = *binding.tensor;
    std::visit(
        [&](const auto& target) {
          using Target = std::decay_t<decltype(target)>;
          if constexpr (std::is_same_v<Target, TokenEmbedding>) {
            refuse_bad_scale(tensor, tensor.shape[0] * tensor.shape[1]);
            weights_.token_embedding = tensor;
          } else if constexpr (std::is_same_v<Target, PackedMatrix DecoderWeights::*>) {
            weights_.*target = pack(tensor);
          } else if constexpr (std::is_same_v<Target, NormWeight DecoderWeights::*>) {
            weights_.*target = widen(tensor);
          } else if constexpr (std::is_same_v<Target, PackedMatrix LayerWeights::*>) {
            weights_.layers[binding.layer].*target = pack(tensor);
          } else {
            weights_.layers[binding.layer].*target = widen(tensor);
          }
        },
        binding.declaration->target);
  }

  PackedMatrix pack(const formats::TensorView& tensor) {
    const std::string name = fmt::format("{}: tensor {} at byte {}", file_.path(), tensor.name, tensor.file_offset);
    return {tensor.type, tensor.data.data(), tensor.shape[0], tensor.shape[1], name, pool_, &arena_};
  }

 private:
  void refuse_bad_scale(const formats::TensorView& tensor, std::size_t elements) const {
    const numerics::ElementTypeInfo& info = numerics::element_type_info(tensor.type);
    const auto block = numerics::first_bad_scale(tensor.type, tensor.data.data(), elements / info.block_elements);
    if (block < 0) return;
    throw_input(fmt::format("{}: tensor {}: the scale of block {} (at byte {}) is not finite", file_.path(),
                            tensor.name, block,
                            tensor.file_offset + static_cast<std::uint64_t>(block) * info.block_bytes));
  }

  NormWeight widen(const formats::TensorView& tensor) const {
    refuse_bad_scale(tensor, tensor.shape[0]);
    NormWeight values(tensor.shape[0]);
    numerics::dequantize(tensor.type, tensor.data.data(), values.size(), values.data());
    return values;
  }

  const formats::GgufFile& file_;
  DecoderWeights& weights_;
  ThreadPool& pool_;
  kernels::HugePageArena arena_;  // the layers' matrices lie one behind the other
};

}  // namespace

blocks::DecoderWeights load_weights(const formats::GgufFile& file, const Description& description, ThreadPool& pool,
                                    const LoadProgress& progress) {
  blocks::DecoderWeights weights;
  weights.layers.resize(description.config.layers.size());
  Loader loader(file, weights, pool);
  const std::size_t total = description.tensors.size() + (description.tied_output ? 1 : 0);
  std::size_t done = 0;
  const auto report = [&] {
    ++done;
    if (progress) progress(done, total);
  };
  for (const TensorBinding& binding : description.tensors) {
    loader.load(binding);
    report();
  }
  if (description.tied_output) {
    weights.output = loader.pack(weights.token_embedding);
    report();
  }
  return weights;
}

}  // namespace lastbit::families
