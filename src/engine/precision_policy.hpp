// The precision policy: a value that travels with the model and is printed with every answer (never a silent default).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lastbit::engine {

/// Dtypes of the activations between operators, of the inputs of matrix products, and of the key-value cache. This
/// version computes all three in binary32, the policy `highest`: stored weights are widened by rule A3, products follow
/// rule A2.
struct PrecisionPolicy {
  std::string activations = "f32";
  std::string matmul = "f32";
  std::string key_value_cache = "f32";
  std::string reason;  // why this policy: a flag, the environment, a default

  /// "highest", or the three-field form for any other combination.
  std::string name() const;
  /// "activations=f32,matmul=f32,kv=f32"
  std::string fields() const;
};

/// `flag` (--precision) wins over LASTBIT_PRECISION, which wins over the default. A malformed or unknown value and a
/// policy of a later version (int8, other dtypes) are ErrorKind::usage, never ignored.
PrecisionPolicy choose_precision(const std::optional<std::string>& flag);

}  // namespace lastbit::engine
