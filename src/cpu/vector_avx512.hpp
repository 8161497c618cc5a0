// Vector wrapper for AVX-512 F, CD, BW, DQ, VL. Included only by translation units compiled for that set.
#pragma once

// g++ 12's intrinsics start from a register that is "undefined" on purpose (_mm512_undefined_ps) and warn about it
// where they are inlined: gcc.gnu.org/PR105593.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace lastbit::LASTBIT_VECTOR_NAMESPACE {
namespace {

struct Vector {
  static constexpr int lanes = 16;
  static constexpr int registers = 32;
  using F32 = __m512;
  using I32 = __m512i;
  using Mask = __mmask16;

  // ---- binary32 -------------------------------------------------------------------------------------------------
  static F32 zero() { return _mm512_setzero_ps(); }
  static F32 broadcast(float x) { return _mm512_set1_ps(x); }
  static F32 load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, F32 x) { _mm512_storeu_ps(p, x); }
  /// The first `count` (0..lanes) elements, +0 in the others; memory behind them is not touched.
  static F32 load_first(const float* p, int count) { return _mm512_maskz_loadu_ps(first(count), p); }
  static void store_first(float* p, F32 x, int count) { _mm512_mask_storeu_ps(p, first(count), x); }
  static F32 add(F32 a, F32 b) { return _mm512_add_ps(a, b); }
  static F32 subtract(F32 a, F32 b) { return _mm512_sub_ps(a, b); }
  static F32 multiply(F32 a, F32 b) { return _mm512_mul_ps(a, b); }
  static F32 divide(F32 a, F32 b) { return _mm512_div_ps(a, b); }
  static F32 square_root(F32 a) { return _mm512_sqrt_ps(a); }
  /// fl(a * b + c)
  static F32 fma(F32 a, F32 b, F32 c) { return _mm512_fmadd_ps(a, b, c); }
  /// Nearest integer, ties to even.
  static F32 round_even(F32 a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }

  // ---- comparisons (false where an operand is NaN) and selection ------------------------------------------------
  static Mask less(F32 a, F32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
  static Mask equal(F32 a, F32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
  static Mask is_nan(F32 a) { return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q); }
  static Mask first(int count) { return static_cast<Mask>((1U << count) - 1U); }
  static Mask mask_or(Mask a, Mask b) { return static_cast<Mask>(a | b); }
  static Mask mask_and(Mask a, Mask b) { return static_cast<Mask>(a & b); }
  static Mask mask_not(Mask a) { return static_cast<Mask>(~a); }
  static bool any(Mask a) { return a != 0; }
  static F32 select(Mask m, F32 if_true, F32 if_false) { return _mm512_mask_blend_ps(m, if_false, if_true); }

  // ---- 32-bit integers and bits ---------------------------------------------------------------------------------
  static I32 broadcast_integer(std::int32_t x) { return _mm512_set1_epi32(x); }
  static I32 load_integer(const void* p) { return _mm512_loadu_si512(p); }
  static I32 bit_and(I32 a, I32 b) { return _mm512_and_si512(a, b); }
  static I32 bit_or(I32 a, I32 b) { return _mm512_or_si512(a, b); }
  static I32 bit_xor(I32 a, I32 b) { return _mm512_xor_si512(a, b); }
  static I32 add_integer(I32 a, I32 b) { return _mm512_add_epi32(a, b); }
  static I32 subtract_integer(I32 a, I32 b) { return _mm512_sub_epi32(a, b); }
  template <int bits>
  static I32 shift_left(I32 a) {
    return _mm512_slli_epi32(a, bits);
  }
  template <int bits>
  static I32 shift_right(I32 a) {
    return _mm512_srli_epi32(a, bits);
  }
  template <int bits>
  static I32 shift_right_arithmetic(I32 a) {
    return _mm512_srai_epi32(a, bits);
  }
  static F32 as_float(I32 a) { return _mm512_castsi512_ps(a); }
  static I32 as_integer(F32 a) { return _mm512_castps_si512(a); }
  /// Exact for |a| <= 2^24, rounded to nearest beyond.
  static F32 to_float(I32 a) { return _mm512_cvtepi32_ps(a); }

  // ---- bytes of dwords ------------------------------------------------------------------------------------------
  /// Each lane: `base` with byte number `to` (which is 0 in base) replaced by byte number `from` of `codes`.
  template <int from, int to>
  __attribute__((always_inline)) static I32 merge_byte(I32 codes, I32 base) {
    if constexpr (from == to) {
      return _mm512_ternarylogic_epi32(codes, _mm512_set1_epi32(static_cast<int>(0xFFU << (8 * to))), base,
                                       0xEA);  // a & b | c
    } else {
      const auto source = [](int lane) {
        return static_cast<int>(static_cast<std::uint32_t>(4 * lane + from) << (8 * to));
      };
      const __m512i order = _mm512_broadcast_i32x4(_mm_setr_epi32(source(0), source(1), source(2), source(3)));
      return _mm512_mask_shuffle_epi8(base, 0x1111111111111111ULL << to, codes, order);
    }
  }

  // ---- widening loads, one element per lane ---------------------------------------------------------------------
  static F32 load_f16(const std::uint16_t* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static F32 load_bf16(const std::uint16_t* p) {
    return as_float(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))), 16));
  }
  static I32 load_u8(const std::uint8_t* p) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static I32 load_i8(const std::int8_t* p) {
    return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }

  // ---- binary64: F64 holds half the elements of an F32; bitwise functions of I32 serve I64 as well -----------------
  static constexpr int double_lanes = 8;
  using F64 = __m512d;
  using I64 = __m512i;
  using Mask64 = __mmask8;
  static F64 broadcast_double(double x) { return _mm512_set1_pd(x); }
  static I64 broadcast_integer64(std::int64_t x) { return _mm512_set1_epi64(x); }
  static F64 widen_low(F32 x) { return _mm512_cvtps_pd(_mm512_castps512_ps256(x)); }
  static F64 widen_high(F32 x) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)); }
  /// Each element rounded once to binary32, subnormals kept.
  static F32 narrow(F64 low, F64 high) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
  }
  static void store(double* p, F64 x) { _mm512_storeu_pd(p, x); }
  static F64 add(F64 a, F64 b) { return _mm512_add_pd(a, b); }
  static F64 subtract(F64 a, F64 b) { return _mm512_sub_pd(a, b); }
  static F64 multiply(F64 a, F64 b) { return _mm512_mul_pd(a, b); }
  static F64 divide(F64 a, F64 b) { return _mm512_div_pd(a, b); }
  static F64 fma(F64 a, F64 b, F64 c) { return _mm512_fmadd_pd(a, b, c); }
  static Mask64 mask_or(Mask64 a, Mask64 b) { return static_cast<Mask64>(a | b); }
  static bool any(Mask64 a) { return a != 0; }
  static F64 select(Mask64 m, F64 if_true, F64 if_false) { return _mm512_mask_blend_pd(m, if_false, if_true); }
  static F64 as_double(I64 a) { return _mm512_castsi512_pd(a); }
  static I64 as_integer(F64 a) { return _mm512_castpd_si512(a); }
  static I64 add_integer64(I64 a, I64 b) { return _mm512_add_epi64(a, b); }
  static I64 subtract_integer64(I64 a, I64 b) { return _mm512_sub_epi64(a, b); }
  template <int bits>
  static I64 shift_left64(I64 a) {
    return _mm512_slli_epi64(a, bits);
  }
  template <int bits>
  static I64 shift_right64(I64 a) {
    return _mm512_srli_epi64(a, bits);
  }
  /// Where a and b have no bit in common.
  static Mask64 disjoint(I64 a, I64 b) { return _mm512_testn_epi64_mask(a, b); }

  /// Always inlined: g++ takes a function that only prefetches for one without effect and drops the call.
  __attribute__((always_inline)) static void prefetch(const void* p) {
    _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0);
  }
};

}  // namespace
}  // namespace lastbit::LASTBIT_VECTOR_NAMESPACE
