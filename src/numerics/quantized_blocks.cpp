#include "numerics/quantized_blocks.hpp"

namespace lastbit::numerics {
namespace {

std::uint8_t byte(unsigned value) { return static_cast<std::uint8_t>(value); }

/// Q4_0, Q4_1 and the lower bits of Q5_0 and Q5_1.
void unpack_nibbles_of_32(const std::uint8_t* qs, std::uint8_t* codes) {
  for (std::size_t j = 0; j < 16; ++j) {
    codes[j] = qs[j] & 15;
    codes[j + 16] = qs[j] >> 4;
  }
}

/// The fifth bit of Q5_0 and Q5_1.
void add_fifth_bit_of_32(const std::uint8_t* qh, std::uint8_t* codes) {
  for (std::size_t j = 0; j < 32; ++j) codes[j] = byte(codes[j] | ((qh[j / 8] >> (j % 8)) & 1u) << 4);
}

/// Q4_K and the lower bits of Q5_K.
void unpack_nibbles_of_256(const std::uint8_t* qs, std::uint8_t* codes) {
  for (std::size_t i = 0; i < 256; ++i) {
    const std::uint8_t pair = qs[i / 64 * 32 + i % 32];
    codes[i] = i % 64 < 32 ? pair & 15 : pair >> 4;
  }
}

/// Two bits a weight: Q2_K, the lower bits of Q3_K, the upper bits of Q6_K.
unsigned two_bits_of_256(const std::uint8_t* qs, std::size_t i) {
  return (qs[i / 128 * 32 + i % 32] >> (2 * (i % 128 / 32))) & 3u;
}

/// One bit a weight: the third bit of Q3_K, the fifth of Q5_K.
unsigned one_bit_of_256(const std::uint8_t* bits, std::size_t i) { return (bits[i % 32] >> (i / 32)) & 1u; }

/// Q4_K and Q5_K: scales 0-3 and minimums 0-3 are the lower six bits of bytes 0-3 and 4-7; scales and minimums 4-7 have
/// their lower four bits in bytes 8-11 (scale low nibble, minimum high one) and their upper two in the top of bytes
/// 0-7.
void unpack_six_bit_scales_and_minimums(const std::uint8_t* packed, std::int8_t* scales, std::uint8_t* minimums) {
  for (std::size_t j = 0; j < 4; ++j) {
    scales[j] = static_cast<std::int8_t>(packed[j] & 63);
    minimums[j] = packed[j + 4] & 63;
    scales[j + 4] = static_cast<std::int8_t>((packed[j + 8] & 15) | (packed[j] >> 6) << 4);
    minimums[j + 4] = byte((packed[j + 8] >> 4) | (packed[j + 4] >> 6) << 4);
  }
}

}  // namespace

void unpack_codes(const BlockQ4_0& block, std::uint8_t* codes) { unpack_nibbles_of_32(block.qs, codes); }

void unpack_codes(const BlockQ4_1& block, std::uint8_t* codes) { unpack_nibbles_of_32(block.qs, codes); }

void unpack_codes(const BlockQ5_0& block, std::uint8_t* codes) {
  unpack_nibbles_of_32(block.qs, codes);
  add_fifth_bit_of_32(block.qh, codes);
}

void unpack_codes(const BlockQ5_1& block, std::uint8_t* codes) {
  unpack_nibbles_of_32(block.qs, codes);
  add_fifth_bit_of_32(block.qh, codes);
}

void unpack_codes(const BlockQ8_0& block, std::uint8_t* codes) {
  for (std::size_t i = 0; i < 32; ++i) codes[i] = byte(static_cast<unsigned>(block.qs[i] + 128));
}

void unpack_codes(const BlockQ2_K& block, std::uint8_t* codes) {
  for (std::size_t i = 0; i < 256; ++i) codes[i] = byte(two_bits_of_256(block.qs, i));
}

void unpack_codes(const BlockQ3_K& block, std::uint8_t* codes) {
  for (std::size_t i = 0; i < 256; ++i) {
    codes[i] = byte(two_bits_of_256(block.qs, i) | one_bit_of_256(block.hmask, i) << 2);
  }
}

void unpack_codes(const BlockQ4_K& block, std::uint8_t* codes) { unpack_nibbles_of_256(block.qs, codes); }

void unpack_codes(const BlockQ5_K& block, std::uint8_t* codes) {
  unpack_nibbles_of_256(block.qs, codes);
  for (std::size_t i = 0; i < 256; ++i) codes[i] = byte(codes[i] | one_bit_of_256(block.qh, i) << 4);
}

void unpack_codes(const BlockQ6_K& block, std::uint8_t* codes) {
  for (std::size_t i = 0; i < 256; ++i) {
    const std::uint8_t pair = block.ql[i / 128 * 64 + i % 64];
    const unsigned lower = i % 128 < 64 ? pair & 15u : pair >> 4;
    codes[i] = byte(lower | two_bits_of_256(block.qh, i) << 4);
  }
}

void unpack_scales(const BlockQ2_K& block, std::int8_t* scales, std::uint8_t* minimums) {
  for (std::size_t j = 0; j < 16; ++j) {
    scales[j] = static_cast<std::int8_t>(block.scales[j] & 15);
    minimums[j] = block.scales[j] >> 4;
  }
}

void unpack_scales(const BlockQ3_K& block, std::int8_t* scales) {
  // Lower four bits: bytes 0-7, scales 0-7 in the low nibbles, 8-15 in the high ones. Upper two: bytes 8-11, scale j in
  // byte 8 + j % 4 at bit 2 (j / 4).
  for (std::size_t j = 0; j < 16; ++j) {
    const unsigned lower = j < 8 ? block.scales[j] & 15u : block.scales[j - 8] >> 4;
    const unsigned upper = (block.scales[8 + j % 4] >> (2 * (j / 4))) & 3u;
    scales[j] = static_cast<std::int8_t>(static_cast<int>(lower | upper << 4) - 32);
  }
}

void unpack_scales(const BlockQ4_K& block, std::int8_t* scales, std::uint8_t* minimums) {
  unpack_six_bit_scales_and_minimums(block.scales, scales, minimums);
}

void unpack_scales(const BlockQ5_K& block, std::int8_t* scales, std::uint8_t* minimums) {
  unpack_six_bit_scales_and_minimums(block.scales, scales, minimums);
}

void unpack_scales(const BlockQ6_K& block, std::int8_t* scales) {
  for (std::size_t j = 0; j < 16; ++j) scales[j] = block.scales[j];
}

}  // namespace lastbit::numerics
