// Gemma 3, text: decoder with 5:1 sliding windows, two rope bases, query-key norm, norms before and after each half,
// scaled embeddings, gated GELU (tanh form).
//
// Sources: the GGUF metadata that llama.cpp's converter writes, and the defaults of transformers' Gemma3TextConfig
// where the files have no key. GGUF files hold the norm weights as 1 + w already.
#include <fmt/format.h>

#include <cmath>

#include "families/family.hpp"
#include "families/rope.hpp"

namespace lastbit::families {
namespace {

using blocks::DecoderWeights;
using blocks::LayerWeights;

constexpr KeyDeclaration kKeys[] = {
    {"context_length", KeyType::integer, WhenAbsent::refuse},
    {"embedding_length", KeyType::integer, WhenAbsent::refuse},
    {"block_count", KeyType::integer, WhenAbsent::refuse},
    {"feed_forward_length", KeyType::integer, WhenAbsent::refuse},
    {"attention.head_count", KeyType::integer, WhenAbsent::refuse},
    {"attention.head_count_kv", KeyType::integer, WhenAbsent::assemble_decides},
    {"attention.key_length", KeyType::integer, WhenAbsent::assemble_decides},
    {"attention.value_length", KeyType::integer, WhenAbsent::assemble_decides},
    {"attention.layer_norm_rms_epsilon", KeyType::number, WhenAbsent::refuse},
    {"attention.sliding_window", KeyType::integer, WhenAbsent::refuse},
    {"attention.sliding_window_pattern", KeyType::integer, WhenAbsent::take_default, 6,
     "Gemma3TextConfig: every sixth layer is full"},
    {"rope.freq_base", KeyType::number, WhenAbsent::take_default, 1000000.0, "Gemma3TextConfig: rope_theta"},
    {"rope.freq_base_swa", KeyType::number, WhenAbsent::take_default, 10000.0,
     "Gemma3TextConfig: rope_local_base_freq"},
    {"rope.dimension_count", KeyType::integer, WhenAbsent::assemble_decides},
    {"rope.scaling.type", KeyType::text, WhenAbsent::assemble_decides},
    {"rope.scaling.factor", KeyType::number, WhenAbsent::assemble_decides},
    {"vocab_size", KeyType::integer, WhenAbsent::assemble_decides},
};

constexpr TensorDeclaration kTensors[] = {
    {"token_embd.weight", "vocabulary", "hidden", TokenEmbedding{}},
    {"output.weight", "vocabulary", "hidden", &DecoderWeights::output, true},  // absent: tied to the embedding
    {"output_norm.weight", "hidden", "", &DecoderWeights::output_norm},
    {"blk.{layer}.attn_norm.weight", "hidden", "", &LayerWeights::attention_norm},
    {"blk.{layer}.attn_q.weight", "query", "hidden", &LayerWeights::query},
    {"blk.{layer}.attn_k.weight", "key_value", "hidden", &LayerWeights::key},
    {"blk.{layer}.attn_v.weight", "key_value", "hidden", &LayerWeights::value},
    {"blk.{layer}.attn_q_norm.weight", "head_dim", "", &LayerWeights::query_norm},
    {"blk.{layer}.attn_k_norm.weight", "head_dim", "", &LayerWeights::key_norm},
    {"blk.{layer}.attn_output.weight", "hidden", "query", &LayerWeights::attention_output},
    {"blk.{layer}.post_attention_norm.weight", "hidden", "", &LayerWeights::post_attention_norm},
    {"blk.{layer}.ffn_norm.weight", "hidden", "", &LayerWeights::feed_forward_norm},
    {"blk.{layer}.ffn_gate.weight", "intermediate", "hidden", &LayerWeights::gate},
    {"blk.{layer}.ffn_up.weight", "intermediate", "hidden", &LayerWeights::up},
    {"blk.{layer}.ffn_down.weight", "hidden", "intermediate", &LayerWeights::down},
    {"blk.{layer}.post_ffw_norm.weight", "hidden", "", &LayerWeights::post_feed_forward_norm},
};

/// 1 / sqrt(head_dim), but for the 27B model: its published config has query_pre_attn_scalar 168 (= 5376 / 32) beside a
/// head_dim of 128, and GGUF files have no key for it, so that model is known by its geometry.
double attention_scale(const blocks::DecoderConfig& config, AssemblyNotes& notes) {
  const bool is_27b = config.layers.size() == 62 && config.hidden_size == 5376 && config.query_heads == 32;
  const double scalar = is_27b ? 168.0 : static_cast<double>(config.head_dim);
  notes.decisions.push_back({"attention scale", fmt::format("1 / sqrt({})", scalar),
                             is_27b ? "family default: query_pre_attn_scalar of Gemma 3 27B (no key in GGUF)"
                                    : "family default: query_pre_attn_scalar = head_dim (no key in GGUF)"});
  return 1.0 / std::sqrt(scalar);
}

void assemble_heads(const ResolvedKeys& keys, blocks::DecoderConfig& config, AssemblyNotes& notes) {
  config.query_heads = keys.integer("attention.head_count");
  config.key_value_heads = config.query_heads;
  if (keys.has("attention.head_count_kv")) {
    config.key_value_heads = keys.integer("attention.head_count_kv");
  } else {
    notes.decisions.push_back(
        {"attention.head_count_kv", fmt::to_string(config.query_heads), "family default: attention.head_count"});
  }
  if (keys.has("attention.key_length")) {
    config.head_dim = keys.integer("attention.key_length");
  } else {
    config.head_dim = 256;
    notes.decisions.push_back({"attention.key_length", "256", "family default: Gemma3TextConfig: head_dim"});
  }
  for (const std::string_view key : {"attention.value_length", "rope.dimension_count"}) {
    if (keys.has(key) && keys.integer(key) != config.head_dim) {
      notes.problems.push_back(
          fmt::format("gemma3.{} is {}, but gemma3.attention.key_length is {}: Gemma 3 has one head size", key,
                      keys.integer(key), config.head_dim));
    }
  }
}

void assemble_layers(const ResolvedKeys& keys, blocks::DecoderConfig& config, AssemblyNotes& notes) {
  const std::uint64_t window = keys.integer("attention.sliding_window");
  const std::uint64_t pattern = keys.integer("attention.sliding_window_pattern");
  if (window == 0) notes.problems.push_back("gemma3.attention.sliding_window is 0");
  if (pattern == 0) {
    notes.problems.push_back("gemma3.attention.sliding_window_pattern is 0");
    return;
  }
  for (std::size_t layer = 0; layer < config.layers.size(); ++layer) {
    const bool full = layer % pattern == pattern - 1;
    config.layers[layer].window = full ? 0 : window;
    config.layers[layer].rotary_table = full ? 0 : 1;
  }
}

blocks::DecoderConfig assemble(const ResolvedKeys& keys, AssemblyNotes& notes) {
  blocks::DecoderConfig config;
  config.context_length = keys.integer("context_length");
  config.hidden_size = keys.integer("embedding_length");
  config.intermediate_size = keys.integer("feed_forward_length");
  config.layers.resize(keys.integer("block_count"));
  config.norm_epsilon = static_cast<float>(keys.number("attention.layer_norm_rms_epsilon"));
  config.activation = numerics::Activation::gelu_tanh;
  notes.decisions.push_back({"activation", "gelu_tanh, evaluation single",
                             "family default: Gemma3TextConfig: hidden_activation gelu_pytorch_tanh (no key in GGUF)"});
  assemble_heads(keys, config, notes);
  assemble_layers(keys, config, notes);
  config.attention_scale = attention_scale(config, notes);
  config.embedding_scale = std::sqrt(static_cast<float>(config.hidden_size));
  notes.decisions.push_back({"embedding scale", fmt::format("fl(sqrt({}))", config.hidden_size),
                             "family default: embed_scale = hidden_size ** 0.5 of the reference code"});
  // Full layers: the file's base and its scaling; sliding layers: the local base, never scaled.
  config.rotary_tables.push_back(rotary_table(keys, "rope.freq_base", config.head_dim, true, notes));
  config.rotary_tables.push_back(rotary_table(keys, "rope.freq_base_swa", config.head_dim, false, notes));
  return config;
}

}  // namespace

extern const Family gemma3;
const Family gemma3{"gemma3", "Gemma 3 (text)", kKeys, kTensors, assemble};

}  // namespace lastbit::families
