// Vector wrapper for AVX2, FMA, F16C. Included only by translation units compiled for that set.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace lastbit::LASTBIT_VECTOR_NAMESPACE {
namespace {

struct Vector {
  static constexpr int lanes = 8;
  static constexpr int registers = 16;
  using F32 = __m256;
  using I32 = __m256i;
  using Mask = __m256;  // all bits of a lane set, or none

  // ---- binary32 -------------------------------------------------------------------------------------------------
  static F32 zero() { return _mm256_setzero_ps(); }
  static F32 broadcast(float x) { return _mm256_set1_ps(x); }
  static F32 load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, F32 x) { _mm256_storeu_ps(p, x); }
  /// The first `count` (0..lanes) elements, +0 in the others; memory behind them is not touched.
  static F32 load_first(const float* p, int count) { return _mm256_maskload_ps(p, _mm256_castps_si256(first(count))); }
  static void store_first(float* p, F32 x, int count) { _mm256_maskstore_ps(p, _mm256_castps_si256(first(count)), x); }
  static F32 add(F32 a, F32 b) { return _mm256_add_ps(a, b); }
  static F32 subtract(F32 a, F32 b) { return _mm256_sub_ps(a, b); }
  static F32 multiply(F32 a, F32 b) { return _mm256_mul_ps(a, b); }
  static F32 divide(F32 a, F32 b) { return _mm256_div_ps(a, b); }
  static F32 square_root(F32 a) { return _mm256_sqrt_ps(a); }
  /// fl(a * b + c)
  static F32 fma(F32 a, F32 b, F32 c) { return _mm256_fmadd_ps(a, b, c); }
  /// Nearest integer, ties to even.
  static F32 round_even(F32 a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

  // ---- comparisons (false where an operand is NaN) and selection ------------------------------------------------
  static Mask less(F32 a, F32 b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
  static Mask equal(F32 a, F32 b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
  static Mask is_nan(F32 a) { return _mm256_cmp_ps(a, a, _CMP_UNORD_Q); }
  static Mask first(int count) {
    const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(count), index));
  }
  static Mask mask_or(Mask a, Mask b) { return _mm256_or_ps(a, b); }
  static Mask mask_and(Mask a, Mask b) { return _mm256_and_ps(a, b); }
  static Mask mask_not(Mask a) { return _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1))); }
  static bool any(Mask a) { return _mm256_movemask_ps(a) != 0; }
  static F32 select(Mask m, F32 if_true, F32 if_false) { return _mm256_blendv_ps(if_false, if_true, m); }

  // ---- 32-bit integers and bits ---------------------------------------------------------------------------------
  static I32 broadcast_integer(std::int32_t x) { return _mm256_set1_epi32(x); }
  static I32 load_integer(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
  static I32 bit_and(I32 a, I32 b) { return _mm256_and_si256(a, b); }
  static I32 bit_or(I32 a, I32 b) { return _mm256_or_si256(a, b); }
  static I32 bit_xor(I32 a, I32 b) { return _mm256_xor_si256(a, b); }
  static I32 add_integer(I32 a, I32 b) { return _mm256_add_epi32(a, b); }
  static I32 subtract_integer(I32 a, I32 b) { return _mm256_sub_epi32(a, b); }
  template <int bits>
  static I32 shift_left(I32 a) {
    return _mm256_slli_epi32(a, bits);
  }
  template <int bits>
  static I32 shift_right(I32 a) {
    return _mm256_srli_epi32(a, bits);
  }
  template <int bits>
  static I32 shift_right_arithmetic(I32 a) {
    return _mm256_srai_epi32(a, bits);
  }
  static F32 as_float(I32 a) { return _mm256_castsi256_ps(a); }
  static I32 as_integer(F32 a) { return _mm256_castps_si256(a); }
  /// Exact for |a| <= 2^24, rounded to nearest beyond.
  static F32 to_float(I32 a) { return _mm256_cvtepi32_ps(a); }

  // ---- bytes of dwords ------------------------------------------------------------------------------------------
  /// Each lane: `base` with byte number `to` (which is 0 in base) replaced by byte number `from` of `codes`.
  template <int from, int to>
  __attribute__((always_inline)) static I32 merge_byte(I32 codes, I32 base) {
    // 0x80 makes a zero byte; the shuffle works within each half of 16 bytes.
    const auto source = [](int lane) {
      return static_cast<int>(0x80808080U ^ (0x80U ^ (4U * lane + from)) << (8 * to));
    };
    const __m256i order = _mm256_broadcastsi128_si256(_mm_setr_epi32(source(0), source(1), source(2), source(3)));
    return _mm256_or_si256(_mm256_shuffle_epi8(codes, order), base);
  }

  // ---- widening loads, one element per lane ---------------------------------------------------------------------
  static F32 load_f16(const std::uint16_t* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static F32 load_bf16(const std::uint16_t* p) {
    return as_float(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))), 16));
  }
  static I32 load_u8(const std::uint8_t* p) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  }
  static I32 load_i8(const std::int8_t* p) {
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
  }

  // ---- binary64: F64 holds half the elements of an F32; bitwise functions of I32 serve I64 as well -----------------
  static constexpr int double_lanes = 4;
  using F64 = __m256d;
  using I64 = __m256i;
  using Mask64 = __m256d;  // all bits of a lane set, or none
  static F64 broadcast_double(double x) { return _mm256_set1_pd(x); }
  static I64 broadcast_integer64(std::int64_t x) { return _mm256_set1_epi64x(x); }
  static F64 widen_low(F32 x) { return _mm256_cvtps_pd(_mm256_castps256_ps128(x)); }
  static F64 widen_high(F32 x) { return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)); }
  /// Each element rounded once to binary32, subnormals kept.
  static F32 narrow(F64 low, F64 high) { return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low)); }
  static void store(double* p, F64 x) { _mm256_storeu_pd(p, x); }
  static F64 add(F64 a, F64 b) { return _mm256_add_pd(a, b); }
  static F64 subtract(F64 a, F64 b) { return _mm256_sub_pd(a, b); }
  static F64 multiply(F64 a, F64 b) { return _mm256_mul_pd(a, b); }
  static F64 divide(F64 a, F64 b) { return _mm256_div_pd(a, b); }
  static F64 fma(F64 a, F64 b, F64 c) { return _mm256_fmadd_pd(a, b, c); }
  static Mask64 mask_or(Mask64 a, Mask64 b) { return _mm256_or_pd(a, b); }
  static bool any(Mask64 a) { return _mm256_movemask_pd(a) != 0; }
  static F64 select(Mask64 m, F64 if_true, F64 if_false) { return _mm256_blendv_pd(if_false, if_true, m); }
  static F64 as_double(I64 a) { return _mm256_castsi256_pd(a); }
  static I64 as_integer(F64 a) { return _mm256_castpd_si256(a); }
  static I64 add_integer64(I64 a, I64 b) { return _mm256_add_epi64(a, b); }
  static I64 subtract_integer64(I64 a, I64 b) { return _mm256_sub_epi64(a, b); }
  template <int bits>
  static I64 shift_left64(I64 a) {
    return _mm256_slli_epi64(a, bits);
  }
  template <int bits>
  static I64 shift_right64(I64 a) {
    return _mm256_srli_epi64(a, bits);
  }
  /// Where a and b have no bit in common.
  static Mask64 disjoint(I64 a, I64 b) {
    return _mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(a, b), _mm256_setzero_si256()));
  }

  /// Always inlined: g++ takes a function that only prefetches for one without effect and drops the call.
  __attribute__((always_inline)) static void prefetch(const void* p) {
    _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0);
  }
};

}  // namespace
}  // namespace lastbit::LASTBIT_VECTOR_NAMESPACE
