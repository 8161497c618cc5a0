#include "numerics/elementary/resolve.hpp"

#include "cpu/vector_emulated.hpp"
#include "numerics/elementary/binary128.hpp"
#include "numerics/elementary/sine_cosine.hpp"

namespace lastbit::numerics {
namespace {

using OneLane = one_lane::Vector;

/// Rounds y when both ends of the interval of relative radius 2^-bits round alike (monotony does the rest), else
/// exact().
template <int bits, class Exact>
float round_or(double y, const Exact& exact) {
  // The radius times 1 + 2^-20 covers the rounding of the two ends to binary64.
  constexpr double radius = (1.0 + 0x1p-20) / static_cast<double>(std::uint64_t{1} << bits);
  const float one_end = static_cast<float>(y - y * radius);
  const float other_end = static_cast<float>(y + y * radius);
  return one_end == other_end || y != y ? static_cast<float>(y) : static_cast<float>(exact());
}

/// The sine beyond the range of the vector code. The reduced argument carries 2^-51, relative: within kSineBits.
double sine_after_exact_reduction(float x, int quarter_turns) {
  const binary128::QuarterTurns reduced = binary128::reduce_to_quarter_turns(x);
  return rounding::sine_of_reduced<OneLane>(OneLane::broadcast_double(static_cast<double>(reduced.r)),
                                            OneLane::broadcast_integer64(reduced.quadrant + quarter_turns))
      .lane[0];
}

void resolve_sine(const float* x, const double* y, int count, float* results, int quarter_turns) {
  for (int i = 0; i < count; ++i) {
    const float argument = x[i];
    if (!(__builtin_fabsf(argument) < __builtin_inff())) {  // the vector code writes the NaN
      results[i] = argument;
      continue;
    }
    const bool beyond = __builtin_fabsf(argument) > rounding::kSineVectorLimit;
    results[i] = round_or<kSineBits>(beyond ? sine_after_exact_reduction(argument, quarter_turns) : y[i],
                                     [=] { return binary128::sine(argument, quarter_turns); });
  }
}

template <int bits>
void resolve(const float* x, const double* y, int count, float* results, binary128::Real (*exact)(binary128::Real)) {
  for (int i = 0; i < count; ++i) {
    results[i] = round_or<bits>(y[i], [&] { return exact(static_cast<binary128::Real>(x[i])); });
  }
}

}  // namespace

void resolve_exp(const float* x, const double* y, int count, float* results) {
  resolve<kExpBits>(x, y, count, results, binary128::exp);
}

/// Lanes that are not positive and finite hold any y; the vector code replaces their results.
void resolve_log(const float* x, const double* y, int count, float* results) {
  for (int i = 0; i < count; ++i) {
    const bool inside = x[i] > 0.0F && x[i] < __builtin_inff();
    results[i] = 0.0F;
    if (inside) resolve<kLogBits>(x + i, y + i, 1, results + i, binary128::log);
  }
}

void resolve_tanh(const float* x, const double* y, int count, float* results) {
  resolve<kTanhBits>(x, y, count, results, binary128::tanh);
}

void resolve_erf(const float* x, const double* y, int count, float* results) {
  resolve<kErfBits>(x, y, count, results, binary128::erf);
}

void resolve_sin(const float* x, const double* y, int count, float* results) { resolve_sine(x, y, count, results, 0); }

void resolve_cos(const float* x, const double* y, int count, float* results) { resolve_sine(x, y, count, results, 1); }

}  // namespace lastbit::numerics
