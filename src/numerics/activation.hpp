// Activation formulas of rule A8. One formula has one name that says what it is (docs/arithmetic.md lists the names that
// checkpoints use for them).
#pragma once

#include <cstdint>
#include <string_view>

namespace lastbit::numerics {

enum class Activation : std::uint8_t { gelu_erf, gelu_tanh, gelu_quick, gelu_10, silu, relu, relu2, identity };

std::string_view activation_name(Activation activation);

/// The formula in binary32, evaluation `single`: each operation rounded to binary32, functions correctly rounded.
float activate(Activation activation, float x);

}  // namespace lastbit::numerics
