// The blocks of GGUF's quantized tensor types, byte for byte as files store them, and their integers unpacked.
//
// A block stands for kElements consecutive weights of a row, cut in sub-blocks of kSubBlockElements that share a scale.
// With u the unsigned code of a weight, rule A3 is
//     w = D * (u - kCentre)                 types without a minimum (kHasMinimum false)
//     w = fl(D * (u - kCentre) + M)         types with one
// where D = d * sc and M = +m (Q4_1, Q5_1) or -(dmin * m) (K-quants), of the sub-block. D, M and the product are exact
// in binary32: d and m have at most 11 significant bits, sc 7, u - kCentre 8 (Q8_0, where sc = 1), 6 otherwise.
//
// Source of the layouts: the GGUF format (ggml's block structures). Scales `d`, `dmin` and `m` are IEEE binary16. All
// sizes are even and a struct has no padding, so an array of blocks is what a file holds; where the address may be odd,
// copy a block out with memcpy first. This header defines no inline functions, so that code compiled per instruction
// set may include it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lastbit::numerics {

struct BlockQ4_0 {
  static constexpr std::size_t kElements = 32, kSubBlockElements = 32;
  static constexpr int kCentre = 8;
  static constexpr bool kHasMinimum = false;
  std::uint16_t d;
  std::uint8_t qs[16];  // byte j: weight j in the low nibble, weight j + 16 in the high one
};
static_assert(sizeof(BlockQ4_0) == 18);

struct BlockQ4_1 {
  static constexpr std::size_t kElements = 32, kSubBlockElements = 32;
  static constexpr int kCentre = 0;
  static constexpr bool kHasMinimum = true;
  std::uint16_t d;
  std::uint16_t m;
  std::uint8_t qs[16];  // as in Q4_0
};
static_assert(sizeof(BlockQ4_1) == 20);

struct BlockQ5_0 {
  static constexpr std::size_t kElements = 32, kSubBlockElements = 32;
  static constexpr int kCentre = 16;
  static constexpr bool kHasMinimum = false;
  std::uint16_t d;
  std::uint8_t qh[4];   // little-endian: bit j is the fifth bit of weight j
  std::uint8_t qs[16];  // the lower four bits, as in Q4_0
};
static_assert(sizeof(BlockQ5_0) == 22);

struct BlockQ5_1 {
  static constexpr std::size_t kElements = 32, kSubBlockElements = 32;
  static constexpr int kCentre = 0;
  static constexpr bool kHasMinimum = true;
  std::uint16_t d;
  std::uint16_t m;
  std::uint8_t qh[4];   // as in Q5_0
  std::uint8_t qs[16];  // as in Q4_0
};
static_assert(sizeof(BlockQ5_1) == 24);

struct BlockQ8_0 {
  static constexpr std::size_t kElements = 32, kSubBlockElements = 32;
  static constexpr int kCentre = 128;  // unpack_codes gives q + 128
  static constexpr bool kHasMinimum = false;
  std::uint16_t d;
  std::int8_t qs[32];
};
static_assert(sizeof(BlockQ8_0) == 34);

struct BlockQ2_K {
  static constexpr std::size_t kElements = 256, kSubBlockElements = 16;
  static constexpr int kCentre = 0;
  static constexpr bool kHasMinimum = true;
  std::uint8_t scales[16];  // sub-block j: sc in the low nibble, m in the high one
  std::uint8_t qs[64];      // half h (128 weights): byte 32h + l holds weights 128h + l + 0, 32, 64, 96, low bits first
  std::uint16_t d;
  std::uint16_t dmin;
};
static_assert(sizeof(BlockQ2_K) == 84);

struct BlockQ3_K {
  static constexpr std::size_t kElements = 256, kSubBlockElements = 16;
  static constexpr int kCentre = 4;
  static constexpr bool kHasMinimum = false;
  std::uint8_t hmask[32];   // bit s of byte l is the third bit of weight 32s + l
  std::uint8_t qs[64];      // the lower two bits, as in Q2_K
  std::uint8_t scales[12];  // sixteen 6-bit scales, stored + 32
  std::uint16_t d;
};
static_assert(sizeof(BlockQ3_K) == 110);

struct BlockQ4_K {
  static constexpr std::size_t kElements = 256, kSubBlockElements = 32;
  static constexpr int kCentre = 0;
  static constexpr bool kHasMinimum = true;
  std::uint16_t d;
  std::uint16_t dmin;
  std::uint8_t scales[12];  // eight 6-bit scales and eight 6-bit minimums
  std::uint8_t qs[128];     // quarter g (64 weights): byte 32g + l holds weights 64g + l (low nibble) and 64g + 32 + l
};
static_assert(sizeof(BlockQ4_K) == 144);

struct BlockQ5_K {
  static constexpr std::size_t kElements = 256, kSubBlockElements = 32;
  static constexpr int kCentre = 0;
  static constexpr bool kHasMinimum = true;
  std::uint16_t d;
  std::uint16_t dmin;
  std::uint8_t scales[12];  // as in Q4_K
  std::uint8_t qh[32];      // bit s of byte l is the fifth bit of weight 32s + l
  std::uint8_t qs[128];     // the lower four bits, as in Q4_K
};
static_assert(sizeof(BlockQ5_K) == 176);

struct BlockQ6_K {
  static constexpr std::size_t kElements = 256, kSubBlockElements = 16;
  static constexpr int kCentre = 32;
  static constexpr bool kHasMinimum = false;
  std::uint8_t
      ql[128];  // half h: byte 64h + l (l < 64) holds weights 128h + l (low nibble) and 128h + 64 + l: lower bits
  std::uint8_t
      qh[64];  // half h: byte 32h + l holds the upper two bits of weights 128h + l + 0, 32, 64, 96, low bits first
  std::int8_t scales[16];
  std::uint16_t d;
};
static_assert(sizeof(BlockQ6_K) == 210);

/// The kElements unsigned codes of a block in the order of the weights (Q8_0: q + 128).
void unpack_codes(const BlockQ4_0& block, std::uint8_t* codes);
void unpack_codes(const BlockQ4_1& block, std::uint8_t* codes);
void unpack_codes(const BlockQ5_0& block, std::uint8_t* codes);
void unpack_codes(const BlockQ5_1& block, std::uint8_t* codes);
void unpack_codes(const BlockQ8_0& block, std::uint8_t* codes);
void unpack_codes(const BlockQ2_K& block, std::uint8_t* codes);
void unpack_codes(const BlockQ3_K& block, std::uint8_t* codes);
void unpack_codes(const BlockQ4_K& block, std::uint8_t* codes);
void unpack_codes(const BlockQ5_K& block, std::uint8_t* codes);
void unpack_codes(const BlockQ6_K& block, std::uint8_t* codes);

/// The integer scales sc of the sub-blocks of a K-quant (8 in Q4_K and Q5_K, else 16; Q3_K: the 32 already taken off)
/// and, where the type has them, their minimums m. 0 <= sc <= 15 in Q2_K, -32..31 in Q3_K, 0..63 in Q4_K and Q5_K.
void unpack_scales(const BlockQ2_K& block, std::int8_t* scales, std::uint8_t* minimums);
void unpack_scales(const BlockQ3_K& block, std::int8_t* scales);
void unpack_scales(const BlockQ4_K& block, std::int8_t* scales, std::uint8_t* minimums);
void unpack_scales(const BlockQ5_K& block, std::int8_t* scales, std::uint8_t* minimums);
void unpack_scales(const BlockQ6_K& block, std::int8_t* scales);

}  // namespace lastbit::numerics
