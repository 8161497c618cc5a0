// What a family's file declares.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/decision.hpp"
#include "blocks/decoder.hpp"

namespace lastbit::families {

/// Larger configuration values are refused: no published model comes near, and products of two stay far from overflow.
inline constexpr std::uint64_t kLargestDimension = std::uint64_t{1} << 24;
inline constexpr std::uint64_t kLargestLayerCount = 4096;
inline constexpr std::uint64_t kLargestHeadSize = std::uint64_t{1}
                                                  << 14;  // rope tables are computed before any tensor is checked

enum class KeyType { integer, number, text };

/// What happens where a checkpoint lacks a key: the load fails; the default is taken (and printed with its source); or
/// the family's assemble() decides.
enum class WhenAbsent { refuse, take_default, assemble_decides };

/// A configuration key, in GGUF without the leading "<architecture>.".
struct KeyDeclaration {
  std::string_view key;
  KeyType type;
  WhenAbsent when_absent;
  double default_value = 0.0;
  std::string_view default_source = {};
};

/// The values of the declared keys, from the file or by default.
class ResolvedKeys {
 public:
  using Value = std::variant<std::uint64_t, double, std::string>;
  void set(std::string_view key, Value value) { values_[std::string(key)] = std::move(value); }
  bool has(std::string_view key) const { return values_.count(std::string(key)) != 0; }
  // The key is declared with that type and resolved; anything else is an error of the declaration (std::logic_error).
  std::uint64_t integer(std::string_view key) const;
  double number(std::string_view key) const;
  const std::string& text(std::string_view key) const;

 private:
  const Value& value(std::string_view key) const;
  std::unordered_map<std::string, Value> values_;
};

/// Where a tensor goes. The token embedding stays in the file (rows are looked up there).
struct TokenEmbedding {};
using TensorTarget =
    std::variant<TokenEmbedding, kernels::PackedMatrix blocks::DecoderWeights::*,
                 blocks::NormWeight blocks::DecoderWeights::*, kernels::PackedMatrix blocks::LayerWeights::*,
                 blocks::NormWeight blocks::LayerWeights::*>;

/// A tensor with its symbolic shape, slowest dimension first. Symbols: vocabulary, hidden, intermediate, query,
/// key_value, head_dim. "{layer}" in the name stands for every layer. `columns` is empty for a vector.
struct TensorDeclaration {
  std::string_view name;
  std::string_view rows;
  std::string_view columns;
  TensorTarget target;
  bool optional = false;
};

/// Collects what assemble() finds wrong or decides.
struct AssemblyNotes {
  std::vector<Decision> decisions;
  std::vector<std::string> problems;
};

struct Family {
  std::string_view architecture;  // GGUF's general.architecture
  std::string_view title;
  std::span<const KeyDeclaration> keys;
  std::span<const TensorDeclaration> tensors;
  /// Everything but vocabulary_size. Called with every `refuse` key present; values may still be out of range, which it
  /// reports in notes.problems.
  blocks::DecoderConfig (*assemble)(const ResolvedKeys& keys, AssemblyNotes& notes);
};

/// The family of that architecture, or nullptr.
const Family* find_family(std::string_view architecture);

/// The architectures of this version, for messages.
std::string known_architectures();

}  // namespace lastbit::families
