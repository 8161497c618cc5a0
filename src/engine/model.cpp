#include "engine/model.hpp"

#include "base/floating_point_state.hpp"

namespace lastbit::engine {

Model::Model(const std::string& path, const LoadOptions& options, ThreadPool& pool) : policy_(options.policy) {
  const FloatingPointScope floating_point;
  file_ = std::make_unique<formats::GgufFile>(path);
  description_ = families::describe(*file_, {options.allow_unknown});
  tokenizer_ = text::load_tokenizer(*file_, options.allow_unknown);
  weights_ = families::load_weights(*file_, description_, pool, options.progress);
}

}  // namespace lastbit::engine
