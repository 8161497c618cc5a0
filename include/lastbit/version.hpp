// The version of lastbit and of its arithmetic.
#pragma once

namespace lastbit {

inline constexpr const char* kVersion = "0.1.0";

/// The number of the arithmetic contract (docs/arithmetic.md). Two builds with the same number give the same bits for
/// the same checkpoint, request and precision policy; changing any rule raises it.
inline constexpr int kArithmeticVersion = 1;

}  // namespace lastbit
