// The emulated twin of every vector wrapper: the same interface on plain arrays, with the same bits (its fma is a true
// one). Kernels compiled against it prove the code of a set that the machine at hand lacks: packing, tails and order.
// LASTBIT_EMULATED_ISA_<name> says which set is emulated; without any it is a vector of one lane, for scalar code.
#pragma once

#include <cstddef>
#include <cstdint>

#ifndef LASTBIT_VECTOR_NAMESPACE
#define LASTBIT_VECTOR_NAMESPACE one_lane
#endif

namespace lastbit::LASTBIT_VECTOR_NAMESPACE {
namespace {

struct Vector {
#if defined(LASTBIT_EMULATED_ISA_avx512)
  static constexpr int lanes = 16;
  static constexpr int registers = 32;
#elif defined(LASTBIT_EMULATED_ISA_avx2)
  static constexpr int lanes = 8;
  static constexpr int registers = 16;
#else
  static constexpr int lanes = 1;
  static constexpr int registers = 16;
#endif

  struct F32 {
    float lane[lanes];
  };
  struct I32 {
    std::int32_t lane[lanes];
  };
  struct Mask {
    bool lane[lanes];
  };

  template <class Result, class Function>
  static Result each(const Function& function) {
    Result result;
    for (int i = 0; i < lanes; ++i) result.lane[i] = function(i);
    return result;
  }

  // ---- binary32 -------------------------------------------------------------------------------------------------
  static F32 zero() { return broadcast(0.0F); }
  static F32 broadcast(float x) {
    return each<F32>([&](int) { return x; });
  }
  static F32 load(const float* p) {
    return each<F32>([&](int i) { return p[i]; });
  }
  static void store(float* p, F32 x) { store_first(p, x, lanes); }
  /// The first `count` (0..lanes) elements, +0 in the others; memory behind them is not touched.
  static F32 load_first(const float* p, int count) {
    return each<F32>([&](int i) { return i < count ? p[i] : 0.0F; });
  }
  static void store_first(float* p, F32 x, int count) {
    for (int i = 0; i < count; ++i) p[i] = x.lane[i];
  }
  static F32 add(F32 a, F32 b) {
    return each<F32>([&](int i) { return a.lane[i] + b.lane[i]; });
  }
  static F32 subtract(F32 a, F32 b) {
    return each<F32>([&](int i) { return a.lane[i] - b.lane[i]; });
  }
  static F32 multiply(F32 a, F32 b) {
    return each<F32>([&](int i) { return a.lane[i] * b.lane[i]; });
  }
  static F32 divide(F32 a, F32 b) {
    return each<F32>([&](int i) { return a.lane[i] / b.lane[i]; });
  }
  static F32 square_root(F32 a) {
    return each<F32>([&](int i) { return __builtin_sqrtf(a.lane[i]); });
  }
  /// fl(a * b + c)
  static F32 fma(F32 a, F32 b, F32 c) {
    return each<F32>([&](int i) { return __builtin_fmaf(a.lane[i], b.lane[i], c.lane[i]); });
  }
  /// Nearest integer, ties to even.
  static F32 round_even(F32 a) {
    return each<F32>([&](int i) { return __builtin_rintf(a.lane[i]); });
  }

  // ---- comparisons (false where an operand is NaN) and selection ------------------------------------------------
  static Mask less(F32 a, F32 b) {
    return each<Mask>([&](int i) { return a.lane[i] < b.lane[i]; });
  }
  static Mask equal(F32 a, F32 b) {
    return each<Mask>([&](int i) { return a.lane[i] == b.lane[i]; });
  }
  static Mask is_nan(F32 a) {
    return each<Mask>([&](int i) { return a.lane[i] != a.lane[i]; });
  }
  static Mask first(int count) {
    return each<Mask>([&](int i) { return i < count; });
  }
  static Mask mask_or(Mask a, Mask b) {
    return each<Mask>([&](int i) { return a.lane[i] || b.lane[i]; });
  }
  static Mask mask_and(Mask a, Mask b) {
    return each<Mask>([&](int i) { return a.lane[i] && b.lane[i]; });
  }
  static Mask mask_not(Mask a) {
    return each<Mask>([&](int i) { return !a.lane[i]; });
  }
  static bool any(Mask a) {
    bool result = false;
    for (int i = 0; i < lanes; ++i) result = result || a.lane[i];
    return result;
  }
  static F32 select(Mask m, F32 if_true, F32 if_false) {
    return each<F32>([&](int i) { return m.lane[i] ? if_true.lane[i] : if_false.lane[i]; });
  }

  // ---- 32-bit integers and bits ---------------------------------------------------------------------------------
  static I32 broadcast_integer(std::int32_t x) {
    return each<I32>([&](int) { return x; });
  }
  static I32 load_integer(const void* p) {
    I32 result;
    __builtin_memcpy(&result, p, sizeof result);
    return result;
  }
  static I32 bit_and(I32 a, I32 b) {
    return each<I32>([&](int i) { return a.lane[i] & b.lane[i]; });
  }
  static I32 bit_or(I32 a, I32 b) {
    return each<I32>([&](int i) { return a.lane[i] | b.lane[i]; });
  }
  static I32 bit_xor(I32 a, I32 b) {
    return each<I32>([&](int i) { return a.lane[i] ^ b.lane[i]; });
  }
  static I32 add_integer(I32 a, I32 b) {
    return each<I32>([&](int i) { return from_unsigned(to_unsigned(a.lane[i]) + to_unsigned(b.lane[i])); });
  }
  static I32 subtract_integer(I32 a, I32 b) {
    return each<I32>([&](int i) { return from_unsigned(to_unsigned(a.lane[i]) - to_unsigned(b.lane[i])); });
  }
  template <int bits>
  static I32 shift_left(I32 a) {
    return each<I32>([&](int i) { return from_unsigned(to_unsigned(a.lane[i]) << bits); });
  }
  template <int bits>
  static I32 shift_right(I32 a) {
    return each<I32>([&](int i) { return from_unsigned(to_unsigned(a.lane[i]) >> bits); });
  }
  template <int bits>
  static I32 shift_right_arithmetic(I32 a) {
    return each<I32>([&](int i) { return a.lane[i] >> bits; });
  }
  static F32 as_float(I32 a) {
    F32 result;
    __builtin_memcpy(&result, &a, sizeof result);
    return result;
  }
  static I32 as_integer(F32 a) {
    I32 result;
    __builtin_memcpy(&result, &a, sizeof result);
    return result;
  }
  /// Exact for |a| <= 2^24, rounded to nearest beyond.
  static F32 to_float(I32 a) {
    return each<F32>([&](int i) { return static_cast<float>(a.lane[i]); });
  }

  // ---- bytes of dwords ------------------------------------------------------------------------------------------
  /// Each lane: `base` with byte number `to` (which is 0 in base) replaced by byte number `from` of `codes`.
  template <int from, int to>
  static I32 merge_byte(I32 codes, I32 base) {
    return each<I32>([&](int i) {
      const std::uint32_t byte = (to_unsigned(codes.lane[i]) >> (8 * from)) & 0xFFU;
      return from_unsigned(byte << (8 * to) | to_unsigned(base.lane[i]));
    });
  }

  // ---- widening loads, one element per lane ---------------------------------------------------------------------
  static F32 load_f16(const std::uint16_t* p) {
    return each<F32>([&](int i) { return widen_f16(p[i]); });
  }
  static F32 load_bf16(const std::uint16_t* p) {
    return as_float(each<I32>([&](int i) { return from_unsigned(static_cast<std::uint32_t>(p[i]) << 16); }));
  }
  static I32 load_u8(const std::uint8_t* p) {
    return each<I32>([&](int i) { return static_cast<std::int32_t>(p[i]); });
  }
  static I32 load_i8(const std::int8_t* p) {
    return each<I32>([&](int i) { return static_cast<std::int32_t>(p[i]); });
  }

  // ---- binary64: F64 holds half the elements of an F32; bitwise functions of I32 serve I64 as well -----------------
  static constexpr int double_lanes = lanes > 1 ? lanes / 2 : 1;  // one lane: widen_low holds it, widen_high nothing
  struct F64 {
    double lane[double_lanes];
  };
  struct I64 {
    std::int64_t lane[double_lanes];
  };
  struct Mask64 {
    bool lane[double_lanes];
  };
  template <class Result, class Function>
  static Result each_double(const Function& function) {
    Result result;
    for (int i = 0; i < double_lanes; ++i) result.lane[i] = function(i);
    return result;
  }
  static F64 broadcast_double(double x) {
    return each_double<F64>([&](int) { return x; });
  }
  static I64 broadcast_integer64(std::int64_t x) {
    return each_double<I64>([&](int) { return x; });
  }
  static F64 widen_low(F32 x) {
    return each_double<F64>([&](int i) { return static_cast<double>(x.lane[i]); });
  }
  static F64 widen_high(F32 x) {
    return each_double<F64>([&](int i) {
      const int source = double_lanes + i;
      return source < lanes ? static_cast<double>(x.lane[source]) : 0.0;
    });
  }
  /// Each element rounded once to binary32, subnormals kept.
  static F32 narrow(F64 low, F64 high) {
    return each<F32>(
        [&](int i) { return static_cast<float>(i < double_lanes ? low.lane[i] : high.lane[i - double_lanes]); });
  }
  static void store(double* p, F64 x) {
    for (int i = 0; i < double_lanes; ++i) p[i] = x.lane[i];
  }
  static F64 add(F64 a, F64 b) {
    return each_double<F64>([&](int i) { return a.lane[i] + b.lane[i]; });
  }
  static F64 subtract(F64 a, F64 b) {
    return each_double<F64>([&](int i) { return a.lane[i] - b.lane[i]; });
  }
  static F64 multiply(F64 a, F64 b) {
    return each_double<F64>([&](int i) { return a.lane[i] * b.lane[i]; });
  }
  static F64 divide(F64 a, F64 b) {
    return each_double<F64>([&](int i) { return a.lane[i] / b.lane[i]; });
  }
  static F64 fma(F64 a, F64 b, F64 c) {
    return each_double<F64>([&](int i) { return __builtin_fma(a.lane[i], b.lane[i], c.lane[i]); });
  }
  static Mask64 mask_or(Mask64 a, Mask64 b) {
    return each_double<Mask64>([&](int i) { return a.lane[i] || b.lane[i]; });
  }
  static bool any(Mask64 a) {
    bool result = false;
    for (int i = 0; i < double_lanes; ++i) result = result || a.lane[i];
    return result;
  }
  static F64 select(Mask64 m, F64 if_true, F64 if_false) {
    return each_double<F64>([&](int i) { return m.lane[i] ? if_true.lane[i] : if_false.lane[i]; });
  }
  static F64 as_double(I64 a) {
    F64 result;
    __builtin_memcpy(&result, &a, sizeof result);
    return result;
  }
  static I64 as_integer(F64 a) {
    I64 result;
    __builtin_memcpy(&result, &a, sizeof result);
    return result;
  }
  static I64 bit_and(I64 a, I64 b) {
    return each_double<I64>([&](int i) { return a.lane[i] & b.lane[i]; });
  }
  static I64 bit_or(I64 a, I64 b) {
    return each_double<I64>([&](int i) { return a.lane[i] | b.lane[i]; });
  }
  static I64 bit_xor(I64 a, I64 b) {
    return each_double<I64>([&](int i) { return a.lane[i] ^ b.lane[i]; });
  }
  static I64 add_integer64(I64 a, I64 b) {
    return each_double<I64>([&](int i) { return from_unsigned(to_unsigned(a.lane[i]) + to_unsigned(b.lane[i])); });
  }
  static I64 subtract_integer64(I64 a, I64 b) {
    return each_double<I64>([&](int i) { return from_unsigned(to_unsigned(a.lane[i]) - to_unsigned(b.lane[i])); });
  }
  template <int bits>
  static I64 shift_left64(I64 a) {
    return each_double<I64>([&](int i) { return from_unsigned(to_unsigned(a.lane[i]) << bits); });
  }
  template <int bits>
  static I64 shift_right64(I64 a) {
    return each_double<I64>([&](int i) { return from_unsigned(to_unsigned(a.lane[i]) >> bits); });
  }
  /// Where a and b have no bit in common.
  static Mask64 disjoint(I64 a, I64 b) {
    return each_double<Mask64>([&](int i) { return (a.lane[i] & b.lane[i]) == 0; });
  }

  static void prefetch(const void*) {}

 private:
  static std::uint32_t to_unsigned(std::int32_t x) { return static_cast<std::uint32_t>(x); }
  static std::int32_t from_unsigned(std::uint32_t x) { return static_cast<std::int32_t>(x); }
  static std::uint64_t to_unsigned(std::int64_t x) { return static_cast<std::uint64_t>(x); }
  static std::int64_t from_unsigned(std::uint64_t x) { return static_cast<std::int64_t>(x); }
  /// As vcvtph2ps: exact, subnormals kept, a NaN keeps its payload and becomes quiet.
  static float widen_f16(std::uint16_t encoding) {
    const std::uint32_t sign = static_cast<std::uint32_t>(encoding & 0x8000U) << 16;
    const std::uint32_t exponent = (encoding >> 10) & 31U;
    const std::uint32_t fraction = encoding & 1023U;
    float result = 0.0F;
    if (exponent == 0) {
      result = static_cast<float>(fraction) * 0x1p-24F;
      return sign != 0 ? -result : result;
    }
    std::uint32_t bits = sign | (fraction << 13);
    bits |= exponent == 31 ? (0x7F800000U | (fraction != 0 ? 0x00400000U : 0U)) : ((exponent + 112U) << 23);
    __builtin_memcpy(&result, &bits, sizeof result);
    return result;
  }
};

}  // namespace
}  // namespace lastbit::LASTBIT_VECTOR_NAMESPACE
