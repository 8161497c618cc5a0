#include "numerics/elementary/binary128.hpp"

#include <cstdint>

namespace lastbit::numerics::binary128 {
namespace {

/// The constants as sums of three binary64 numbers (159 bits), so that no literal depends on the compiler's binary128
/// support.
struct Constant {
  double high;
  double middle;
  double low;
  Real value() const { return static_cast<Real>(high) + (static_cast<Real>(middle) + static_cast<Real>(low)); }
};
constexpr Constant kLn2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0x1.7b57a079a1934p-111};
constexpr Constant kHalfPi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
constexpr Constant kTwoOverRootPi = {0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56, -0x1.3cbbebf65f145p-111};

Real absolute(Real x) { return x < 0 ? -x : x; }

/// Whether adding `term` no longer changes `sum` (the terms that follow shrink at least by half).
bool negligible(Real term, Real sum) { return absolute(term) <= absolute(sum) * static_cast<Real>(0x1p-118); }

Real power_of_two(int exponent) {
  Real result = 1;
  const Real factor = exponent < 0 ? static_cast<Real>(0.5) : static_cast<Real>(2);
  for (int i = exponent < 0 ? -exponent : exponent; i > 0; --i) result *= factor;
  return result;
}

/// e^r - 1 = r + r^2 / 2! + ... for |r| <= 0.35, relative precision kept near 0.
Real exponential_minus_one_series(Real r) {
  Real term = r;
  Real sum = r;
  for (int k = 2; term != 0 && !negligible(term, sum); ++k) {
    term *= r / static_cast<Real>(k);
    sum += term;
  }
  return sum;
}

struct Reduced {
  Real scale;  // 2^n
  Real q;      // e^r - 1
};

Reduced reduce_exponential(Real x) {
  const double quotient = static_cast<double>(x) * 0x1.71547652b82fep+0;
  const int n = static_cast<int>(__builtin_rint(quotient));
  // n * high is exact (53 + 15 bits), and so is its subtraction from x, which is near it.
  const Real r = ((x - static_cast<Real>(n) * static_cast<Real>(kLn2.high)) -
                  static_cast<Real>(n) * static_cast<Real>(kLn2.middle)) -
                 static_cast<Real>(n) * static_cast<Real>(kLn2.low);
  return {power_of_two(n), exponential_minus_one_series(r)};
}

Real sine_series(Real r) {
  const Real z = r * r;
  Real term = r;
  Real sum = r;
  for (int k = 2; term != 0 && !negligible(term, sum); k += 2) {
    term *= -z / static_cast<Real>(k * (k + 1));
    sum += term;
  }
  return sum;
}

Real cosine_series(Real r) {
  const Real z = r * r;
  Real term = 1;
  Real sum = 1;
  for (int k = 1; term != 0 && !negligible(term, sum); k += 2) {
    term *= -z / static_cast<Real>(k * (k + 1));
    sum += term;
  }
  return sum;
}

}  // namespace

Real exp(Real x) {
  const Reduced reduced = reduce_exponential(x);
  return reduced.scale + reduced.scale * reduced.q;
}

Real log(Real x) {
  int exponent = 0;
  const double root_half = 0x1.6a09e667f3bcdp-1;
  while (x >= static_cast<Real>(2 * root_half)) x *= static_cast<Real>(0.5), ++exponent;
  while (x < static_cast<Real>(root_half)) x *= static_cast<Real>(2), --exponent;
  // log x = 2 atanh(s), s = (x - 1) / (x + 1), |s| <= 0.172
  const Real s = (x - 1) / (x + 1);
  const Real z = s * s;
  Real power = s;
  Real sum = s;
  Real term = s;
  for (int k = 3; term != 0 && !negligible(term, sum); k += 2) {
    power *= z;
    term = power / static_cast<Real>(k);
    sum += term;
  }
  return static_cast<Real>(exponent) * kLn2.value() + (sum + sum);
}

Real tanh(Real x) {
  if (absolute(x) > 40) return x < 0 ? static_cast<Real>(-1) : static_cast<Real>(1);  // within 2^-115
  const Reduced reduced = reduce_exponential(x + x);
  const Real e = (reduced.scale - 1) + reduced.scale * reduced.q;
  return e / (e + 2);
}

/// erf(x) = 2 / sqrt(pi) e^(-x^2) (x + 2 x^3 / 3 + 4 x^5 / 15 + ...): all terms of one sign, so nothing cancels.
Real erf(Real x) {
  const Real z = (x * x) * 2;
  Real term = x;
  Real sum = x;
  for (int k = 3; term != 0 && (z > static_cast<Real>(k) / 2 || !negligible(term, sum)); k += 2) {
    term *= z / static_cast<Real>(k);
    sum += term;
  }
  return kTwoOverRootPi.value() * exp(-(x * x)) * sum;
}

namespace {

/// 2 / pi in 384 bits, least significant word first: 2 / pi = words / 2^384. Enough for the largest binary32 number,
/// whose last bit is 2^104, with 2^-256 to spare.
constexpr std::uint32_t kTwoOverPi[] = {0x09d1921c, 0x06492eea, 0x424dd2e0, 0xb7246e3a, 0xdebbc561, 0xfe5163ab,
                                        0x3c439041, 0xdb629599, 0xf534ddc0, 0xfc2757d1, 0x4e441529, 0xa2f9836e};
constexpr int kFractionBits = 384;
constexpr int kWords = 14;

__extension__ typedef unsigned __int128 Unsigned128;
__extension__ typedef __int128 Signed128;

/// 128 bits of the number in `words` from bit `position` on.
Unsigned128 bits_from(const std::uint32_t (&words)[kWords], int position) {
  Unsigned128 result = 0;
  for (int i = 0; i < kWords; ++i) {
    const int shift = 32 * i - position;
    if (shift <= -32 || shift >= 128) continue;
    const Unsigned128 word = words[i];
    result |= shift < 0 ? word >> -shift : word << shift;
  }
  return result;
}

}  // namespace

QuarterTurns reduce_to_quarter_turns(float x) {
  const float magnitude = __builtin_fabsf(x);
  if (magnitude < 0.75F) return {0, static_cast<Real>(x)};
  std::uint32_t encoding = 0;
  __builtin_memcpy(&encoding, &magnitude, sizeof encoding);
  const std::uint64_t mantissa = (encoding & 0x7FFFFFU) | 0x800000U;
  const int exponent = static_cast<int>(encoding >> 23) - 150;  // magnitude = mantissa * 2^exponent
  std::uint32_t product[kWords] = {};
  std::uint64_t carry = 0;
  for (int i = 0; i < kFractionBits / 32; ++i) {
    carry += mantissa * kTwoOverPi[i];
    product[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  product[kFractionBits / 32] = static_cast<std::uint32_t>(carry);
  const int point = kFractionBits - exponent;  // bits from here on are the integer part of magnitude * 2 / pi
  const Unsigned128 fraction = bits_from(product, point - 128);
  int quadrant = static_cast<int>(bits_from(product, point) & 3U);
  quadrant =
      (quadrant + static_cast<int>(fraction >> 127)) & 3;  // nearest: from one half on the fraction counts as negative
  const Real r = static_cast<Real>(static_cast<Signed128>(fraction)) * static_cast<Real>(0x1p-128) * kHalfPi.value();
  return x < 0 ? QuarterTurns{(4 - quadrant) & 3, -r} : QuarterTurns{quadrant, r};
}

Real sine(float x, int quarter_turns) {
  const QuarterTurns reduced = reduce_to_quarter_turns(x);
  const int quadrant = (reduced.quadrant + quarter_turns) & 3;
  const Real value = (quadrant & 1) == 0 ? sine_series(reduced.r) : cosine_series(reduced.r);
  return quadrant >= 2 ? -value : value;
}

}  // namespace lastbit::numerics::binary128
