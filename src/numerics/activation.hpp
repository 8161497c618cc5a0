// Activation formulas of rule A8. One formula has one name that says what it is (docs/arithmetic.md lists the names
// that checkpoints use for them).
#pragma once

#include <cstdint>
#include <string_view>

namespace lastbit::numerics {

enum class Activation : std::uint8_t { gelu_erf, gelu_tanh, gelu_quick, gelu_10, silu, relu, relu2, identity };

/// The constants of the formulas, rounded to binary32.
namespace activation_constants {
constexpr float kRootTwoOverPi = 0x1.988454p-1F;   // sqrt(2 / pi)
constexpr float kGeluTanhCubic = 0x1.6e4e26p-5F;   // 0.044715
constexpr float kRootHalf = 0x1.6a09e6p-1F;        // 1 / sqrt(2)
constexpr float kGeluQuickSlope = 0x1.b3b646p+0F;  // 1.702
}  // namespace activation_constants

std::string_view activation_name(Activation activation);

/// The formula in binary32, evaluation `single`: each operation rounded to binary32, functions correctly rounded.
float activate(Activation activation, float x);

}  // namespace lastbit::numerics
