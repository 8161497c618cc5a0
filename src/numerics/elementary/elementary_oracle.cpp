#include "numerics/elementary/elementary_oracle.hpp"

#include <mpfr.h>

#include <cmath>
#include <limits>

#include "numerics/elementary/elementary.hpp"

namespace lastbit::numerics {

#define LASTBIT_VECTOR_ISA(name, features, flags)      \
  namespace emulated_##name {                          \
    extern const ElementaryKernels elementary_kernels; \
  }
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA

namespace oracle {
namespace {

/// Rounding at 24 bits, then mpfr_subnormalize with the ternary value: the emulation of binary32 that MPFR's manual
/// gives.
template <int (*function)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t)>
float with_mpfr(float x) {
  mpfr_t argument;
  mpfr_t result;
  mpfr_init2(argument, 24);
  mpfr_init2(result, 24);
  mpfr_set_flt(argument, x, MPFR_RNDN);
  int ternary = function(result, argument, MPFR_RNDN);
  ternary = mpfr_check_range(result, ternary, MPFR_RNDN);
  mpfr_subnormalize(result, ternary, MPFR_RNDN);
  const float value = mpfr_get_flt(result, MPFR_RNDN);
  mpfr_clear(argument);
  mpfr_clear(result);
  return value == value ? value : std::numeric_limits<float>::quiet_NaN();
}

int mpfr_reciprocal(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) { return mpfr_ui_div(result, 1, x, rounding); }

double binary64_reciprocal(double x) { return 1.0 / x; }

}  // namespace

const std::vector<FunctionUnderTest>& functions() {
  using K = ElementaryKernels;
  static const std::vector<FunctionUnderTest> list = {
      {"exp", &K::exp, numerics::exp, with_mpfr<mpfr_exp>, std::exp},
      {"log", &K::log, numerics::log, with_mpfr<mpfr_log>, std::log},
      {"tanh", &K::tanh, numerics::tanh, with_mpfr<mpfr_tanh>, std::tanh},
      {"erf", &K::erf, numerics::erf, with_mpfr<mpfr_erf>, std::erf},
      {"sin", &K::sin, numerics::sin, with_mpfr<mpfr_sin>, std::sin},
      {"cos", &K::cos, numerics::cos, with_mpfr<mpfr_cos>, std::cos},
      {"sqrt", &K::sqrt, numerics::sqrt, with_mpfr<mpfr_sqrt>, std::sqrt},
      {"reciprocal", &K::reciprocal, numerics::reciprocal, with_mpfr<mpfr_reciprocal>, binary64_reciprocal},
  };
  return list;
}

void prepare_thread() {
  mpfr_set_emin(-148);
  mpfr_set_emax(128);
}

float correctly_rounded(const FunctionUnderTest& function, float x, unsigned long long& asked_mpfr) {
  const double y = function.binary64(static_cast<double>(x));
  if (std::isnan(y)) return std::numeric_limits<float>::quiet_NaN();
  const auto lower = static_cast<float>(y - y * 0x1p-49);
  const auto upper = static_cast<float>(y + y * 0x1p-49);
  if (std::isinf(y) || lower == upper) return static_cast<float>(y);
  ++asked_mpfr;
  return function.mpfr(x);
}

bool hard_to_round(const FunctionUnderTest& function, float x) {
  const double y = function.binary64(static_cast<double>(x));
  return std::isfinite(y) && static_cast<float>(y - y * 0x1p-45) != static_cast<float>(y + y * 0x1p-45);
}

std::vector<KernelSet> runnable_sets() {
  std::vector<KernelSet> sets;
  for (const cpu::Isa isa : cpu::all_isas()) {
    if (cpu::isa_supported(isa)) sets.push_back({std::string(cpu::isa_name(isa)), &elementary_kernels(isa)});
  }
#define LASTBIT_VECTOR_ISA(name, features, flags) \
  sets.push_back({"emulated_" #name, &emulated_##name::elementary_kernels});
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA
  return sets;
}

}  // namespace oracle
}  // namespace lastbit::numerics
