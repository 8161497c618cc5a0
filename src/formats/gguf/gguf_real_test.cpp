// The real checkpoints that `make models` fetches. Counts, keys and types were read from the files by another program.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "formats/gguf/gguf.hpp"
#include "numerics/dequantize.hpp"
#include "tests/support/data.hpp"

namespace lastbit::formats {
namespace {

using Shape = std::vector<std::uint64_t>;

std::map<std::string_view, int> count_types(const GgufFile& file) {
  std::map<std::string_view, int> counts;
  for (const TensorView& tensor : file.tensors().all()) ++counts[numerics::element_type_info(tensor.type).name];
  return counts;
}

void expect_finite_scales(const GgufFile& file) {
  for (const TensorView& tensor : file.tensors().all()) {
    const auto blocks = tensor.data.size() / numerics::element_type_info(tensor.type).block_bytes;
    EXPECT_EQ(numerics::first_bad_scale(tensor.type, tensor.data.data(), blocks), -1) << tensor.name;
  }
}

TEST(RealGguf, Gemma3Of270MillionParametersIsReadAsItIs) {
  const std::string path = test::model_path("gemma-3-270m-q4_k_m.gguf");
  LASTBIT_REQUIRE_MODEL(path);
  const GgufFile file(path);
  EXPECT_EQ(file.version(), 3u);
  EXPECT_EQ(file.size(), 253'113'024u);
  EXPECT_EQ(file.keys().size(), 33u);
  EXPECT_EQ(file.string("general.architecture"), "gemma3");
  EXPECT_EQ(file.unsigned_integer("gemma3.attention.sliding_window"), 512u);
  EXPECT_EQ(file.number("gemma3.attention.layer_norm_rms_epsilon"), static_cast<double>(1e-6f));
  EXPECT_EQ(file.number("gemma3.rope.freq_base"), 1e6);
  EXPECT_EQ(file.boolean("tokenizer.ggml.add_space_prefix"), false);
  EXPECT_EQ(file.string_array("tokenizer.ggml.tokens")->size(), 262'144u);
  EXPECT_EQ(file.string_array("tokenizer.ggml.tokens")->at(1), "<eos>");
  EXPECT_EQ(file.number_array("tokenizer.ggml.scores")->size(), 262'144u);
  EXPECT_EQ(file.integer_array("tokenizer.ggml.token_type")->size(), 262'144u);
  EXPECT_EQ(count_types(file),
            (std::map<std::string_view, int>{{"F32", 109}, {"Q5_0", 81}, {"Q4_K", 27}, {"Q8_0", 10}, {"Q6_K", 9}}));
  EXPECT_EQ(file.tensors().all().front().name, "output_norm.weight");
  EXPECT_EQ(file.tensors().find("token_embd.weight")->shape, (Shape{262'144, 640}));
  EXPECT_EQ(file.tensors().find("token_embd.weight")->type, numerics::ElementType::q8_0);
  EXPECT_EQ(file.tensors().find("token_embd.weight")->file_offset, 6'525'120u + 2'560);
  EXPECT_EQ(file.tensors().find("blk.0.attn_output.weight")->shape, (Shape{640, 1024}));
  EXPECT_EQ(file.tensors().find("output.weight"), nullptr);
  expect_finite_scales(file);
}

TEST(RealGguf, SmolLm2Of135MillionParametersIsReadAsItIs) {
  const std::string path = test::model_path("SmolLM2-135M-Instruct.Q4_1.gguf");
  LASTBIT_REQUIRE_MODEL(path);
  const GgufFile file(path);
  EXPECT_EQ(file.version(), 3u);
  EXPECT_EQ(file.size(), 98'362'432u);
  EXPECT_EQ(file.keys().size(), 33u);
  EXPECT_EQ(file.string("general.architecture"), "llama");
  EXPECT_EQ(file.string("tokenizer.ggml.model"), "gpt2");
  EXPECT_EQ(file.string_array("tokenizer.ggml.merges")->size(), 48'900u);
  EXPECT_TRUE(file.string("tokenizer.chat_template")->starts_with("{% for message in messages %}"));
  EXPECT_EQ(count_types(file), (std::map<std::string_view, int>{{"Q4_1", 210}, {"F32", 61}, {"Q8_0", 1}}));
  EXPECT_EQ(file.tensors().find("blk.0.ffn_down.weight")->shape, (Shape{576, 1536}));
  expect_finite_scales(file);
}

}  // namespace
}  // namespace lastbit::formats
