// The smallest Gemma 3 checkpoint that is well-formed, as parts that a test can leave out or bend.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/gguf_builder.hpp"

namespace lastbit::test {

class MinimalGemma3 {
 public:
  struct Tensor {
    std::string name;
    std::vector<std::uint64_t> dimensions;  // fastest first, as in the file
    float value = 0.25F;                    // every element
  };

  MinimalGemma3() {
    const std::uint64_t hidden = 8, query = 8, key_value = 4, head_dim = 4, intermediate = 6, vocabulary = 264;
    tensors = {{"token_embd.weight", {hidden, vocabulary}}, {"output_norm.weight", {hidden}}};
    for (const char* layer : {"blk.0.", "blk.1."}) {
      const std::string prefix = layer;
      const std::vector<Tensor> parts = {{"attn_norm", {hidden}},
                                         {"attn_q", {hidden, query}},
                                         {"attn_k", {hidden, key_value}},
                                         {"attn_v", {hidden, key_value}},
                                         {"attn_q_norm", {head_dim}},
                                         {"attn_k_norm", {head_dim}},
                                         {"attn_output", {query, hidden}},
                                         {"post_attention_norm", {hidden}},
                                         {"ffn_norm", {hidden}},
                                         {"ffn_gate", {hidden, intermediate}},
                                         {"ffn_up", {hidden, intermediate}},
                                         {"ffn_down", {intermediate, hidden}},
                                         {"post_ffw_norm", {hidden}}};
      for (const Tensor& part : parts) tensors.push_back({prefix + part.name + ".weight", part.dimensions});
    }
  }

  std::map<std::string, std::uint32_t> integers = {
      {"gemma3.context_length", 16},      {"gemma3.embedding_length", 8},       {"gemma3.block_count", 2},
      {"gemma3.feed_forward_length", 6},  {"gemma3.attention.head_count", 2},   {"gemma3.attention.head_count_kv", 1},
      {"gemma3.attention.key_length", 4}, {"gemma3.attention.value_length", 4}, {"gemma3.attention.sliding_window", 3},
  };
  std::map<std::string, float> numbers = {{"gemma3.attention.layer_norm_rms_epsilon", 1e-6F},
                                          {"gemma3.rope.freq_base", 1000000.0F}};
  std::map<std::string, std::string> strings = {{"general.architecture", "gemma3"}};
  std::vector<Tensor> tensors;

  Tensor& tensor(const std::string& name) {
    for (Tensor& candidate : tensors) {
      if (candidate.name == name) return candidate;
    }
    throw std::logic_error("no tensor " + name);
  }
  void drop_tensor(const std::string& name) {
    tensors.erase(
        std::remove_if(tensors.begin(), tensors.end(), [&](const Tensor& tensor) { return tensor.name == name; }),
        tensors.end());
  }

  std::string bytes() const {
    GgufBuilder builder;
    for (const auto& [key, value] : strings) builder.string(key, value);
    for (const auto& [key, value] : integers) builder.number(key, value);
    for (const auto& [key, value] : numbers) builder.number(key, value);
    add_tokenizer(builder);
    for (const Tensor& entry : tensors) {
      std::uint64_t count = 1;
      for (const std::uint64_t dimension : entry.dimensions) count *= dimension;
      std::string data;
      for (std::uint64_t i = 0; i < count; ++i) data += number_bytes(entry.value);
      builder.tensor(entry.name, 0, entry.dimensions, data);
    }
    return builder.bytes();
  }

 private:
  static void add_tokenizer(GgufBuilder& builder) {
    std::vector<std::string> pieces = {"<pad>", "<eos>", "<bos>", "<unk>"};
    std::vector<std::int32_t> types(4, 3);
    for (int byte = 0; byte < 256; ++byte) {
      char name[8];
      std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(byte));
      pieces.push_back(name);
      types.push_back(6);
    }
    for (const char* piece : {"a", "b", "c", "d"}) {
      pieces.push_back(piece);
      types.push_back(1);
    }
    builder.string("tokenizer.ggml.model", "llama").strings("tokenizer.ggml.tokens", pieces);
    builder.numbers("tokenizer.ggml.token_type", types)
        .numbers("tokenizer.ggml.scores", std::vector<float>(pieces.size(), 0.0F));
    builder.number<std::uint32_t>("tokenizer.ggml.bos_token_id", 2)
        .number<std::uint32_t>("tokenizer.ggml.eos_token_id", 1);
    builder.number<std::uint32_t>("tokenizer.ggml.unknown_token_id", 3).number("tokenizer.ggml.add_bos_token", true);
    builder.number("tokenizer.ggml.add_space_prefix", false);
  }
};

}  // namespace lastbit::test
