#include <fmt/format.h>

#include "base/error.hpp"
#include "numerics/elementary/binary128.hpp"
#include "numerics/elementary/elementary.hpp"

namespace lastbit::numerics {

/// base^(-2i/d) = e^y, y = -2i log(base) / d, in binary128. |y| <= 2^14 is checked, so its relative error of 2^-90 at
/// most becomes 2^-76 of the power. A midpoint of binary32 numbers cannot be hit: it is M 2^j with M odd and of 25
/// bits, base is A 2^k with A odd, and base^(2i) (M 2^j)^d = 1 would need A^(2i) M^d to be a power of two, so M = 1.
float inverse_frequency(float base, std::uint64_t i, std::uint64_t d) {
  using binary128::Real;
  if (!(base > 0.0F && base < __builtin_inff())) {
    throw_input(fmt::format("rope base {}: it must be finite and positive", base));
  }
  if (d == 0) throw_input("rope: the number of rotated dimensions is 0");
  const Real exponent = -(static_cast<Real>(i) * 2) / static_cast<Real>(d);
  const Real y = exponent * binary128::log(static_cast<Real>(base));
  if (y > 150) return __builtin_inff();  // beyond 2^128
  if (y < -150) return 0.0F;             // below 2^-150
  const Real power = binary128::exp(y);
  const Real radius = static_cast<Real>(0x1p-76);
  const float lower = static_cast<float>(power - power * radius);
  const float upper = static_cast<float>(power + power * radius);
  if (lower != upper) {
    throw_input(
        fmt::format("rope: {}^(-2 * {} / {}) lies within 2^-76 of a midpoint of two binary32 numbers and cannot be "
                    "rounded with certainty; use another base or number of dimensions",
                    base, i, d));
  }
  return lower;
}

}  // namespace lastbit::numerics
