// The reference bits come from the gguf package (tests/data/README.md).
#include "numerics/dequantize.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "numerics/quantized_blocks.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/data.hpp"
#include "tests/support/safetensors_fixture.hpp"

namespace lastbit::numerics {
namespace {

using test::FixtureTensor;
using test::same_bits;

struct BlockType {
  ElementType type;
  const char* name;
  std::size_t block_elements;
  std::size_t block_bytes;
  std::vector<std::size_t> scale_offsets;  // of the binary16 scales in a block
};

// Written down from the format's description, not from the code under test.
const std::vector<BlockType>& block_types() {
  static const std::vector<BlockType> types = {
      {ElementType::q4_0, "Q4_0", 32, 18, {0}},      {ElementType::q4_1, "Q4_1", 32, 20, {0, 2}},
      {ElementType::q5_0, "Q5_0", 32, 22, {0}},      {ElementType::q5_1, "Q5_1", 32, 24, {0, 2}},
      {ElementType::q8_0, "Q8_0", 32, 34, {0}},      {ElementType::q2_k, "Q2_K", 256, 84, {80, 82}},
      {ElementType::q3_k, "Q3_K", 256, 110, {108}},  {ElementType::q4_k, "Q4_K", 256, 144, {0, 2}},
      {ElementType::q5_k, "Q5_K", 256, 176, {0, 2}}, {ElementType::q6_k, "Q6_K", 256, 210, {208}},
  };
  return types;
}

const std::map<std::string, FixtureTensor>& fixture() {
  static const auto tensors = test::read_safetensors_fixture(test::data_path("gguf/blocks.safetensors"));
  return tensors;
}

bool has_finite_scales(const BlockType& type, const std::string& raw, std::size_t block) {
  for (const std::size_t offset : type.scale_offsets) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, raw.data() + block * type.block_bytes + offset, 2);
    if ((bits & 0x7C00) == 0x7C00) return false;
  }
  return true;
}

std::vector<float> dequantized(ElementType type, const void* data, std::size_t count) {
  std::vector<float> values(count);
  dequantize(type, data, count, values.data());
  return values;
}

TEST(ElementType, KnowsNameAndBlockOfEveryType) {
  for (const BlockType& type : block_types()) {
    const ElementTypeInfo& info = element_type_info(type.type);
    EXPECT_EQ(info.name, type.name);
    EXPECT_EQ(info.block_elements, type.block_elements) << type.name;
    EXPECT_EQ(info.block_bytes, type.block_bytes) << type.name;
    EXPECT_TRUE(is_block_quantized(type.type));
  }
  EXPECT_EQ(element_type_info(ElementType::f32).block_bytes, 4u);
  EXPECT_EQ(element_type_info(ElementType::f16).block_bytes, 2u);
  EXPECT_EQ(element_type_info(ElementType::bf16).block_bytes, 2u);
  EXPECT_FALSE(is_block_quantized(ElementType::bf16));
}

// Blocks that `use` marks 0 have a scale that is subnormal, where the rule holds all the same, or not finite, where the
// load fails (FindsTheFirstScaleThatIsNotFinite).
TEST(Dequantize, GivesTheReferenceBitsOfEveryBlockWithFiniteScales) {
  for (const BlockType& type : block_types()) {
    const std::string name = type.name;
    const std::string& raw = fixture().at(name + ".raw").bytes;
    const std::vector<float> expected = fixture().at(name + ".values").values<float>();
    const std::vector<std::uint8_t> use = fixture().at(name + ".use").values<std::uint8_t>();
    const std::size_t blocks = use.size();
    ASSERT_EQ(raw.size(), blocks * type.block_bytes);
    ASSERT_EQ(expected.size(), blocks * type.block_elements);
    const std::vector<float> actual = dequantized(type.type, raw.data(), expected.size());
    std::size_t compared = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
      if (!has_finite_scales(type, raw, b)) {
        ASSERT_EQ(use[b], 0);
        continue;
      }
      ++compared;
      EXPECT_TRUE(same_bits(expected.data() + b * type.block_elements, actual.data() + b * type.block_elements,
                            type.block_elements))
          << name << ", block " << b;
    }
    EXPECT_GE(compared, 60u) << name;
  }
}

TEST(Dequantize, GivesTheReferenceBitsOfBlocksFromARealFile) {
  for (const BlockType& type : block_types()) {
    const auto raw = fixture().find(std::string(type.name) + ".file_raw");
    if (raw == fixture().end()) continue;
    const std::vector<float> expected = fixture().at(std::string(type.name) + ".file_values").values<float>();
    ASSERT_EQ(raw->second.bytes.size(), 64 * type.block_bytes);
    const std::vector<float> actual = dequantized(type.type, raw->second.bytes.data(), expected.size());
    EXPECT_TRUE(same_bits(expected.data(), actual.data(), expected.size())) << type.name;
  }
  for (const char* name : {"Q4_K", "Q5_0", "Q6_K", "Q8_0"})
    EXPECT_TRUE(fixture().contains(std::string(name) + ".file_raw"));
}

void expect_all_conversions(ElementType type, const std::string& name) {
  const std::vector<std::uint16_t> bits = fixture().at(name + ".all_bits").values<std::uint16_t>();
  const std::vector<float> expected = fixture().at(name + ".all_values_f32_bits").values<float>();
  ASSERT_EQ(bits.size(), 65'536u);
  ASSERT_EQ(std::vector<bool>(65'536, true), [&] {  // every encoding is there
    std::vector<bool> seen(65'536, false);
    for (const std::uint16_t encoding : bits) seen[encoding] = true;
    return seen;
  }());
  const std::vector<float> actual = dequantized(type, bits.data(), bits.size());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (std::isnan(expected[i])) {
      ASSERT_TRUE(std::isnan(actual[i])) << name << " " << std::hex << bits[i];
    } else {
      ASSERT_TRUE(same_bits(&expected[i], &actual[i], 1)) << name << " " << std::hex << bits[i];
    }
  }
}

TEST(Dequantize, WidensEveryF16Encoding) { expect_all_conversions(ElementType::f16, "F16"); }
TEST(Dequantize, WidensEveryBf16Encoding) { expect_all_conversions(ElementType::bf16, "BF16"); }

TEST(Dequantize, CopiesF32BitsNaNPayloadsIncluded) {
  const std::uint32_t bits[] = {0x00000000, 0x80000000, 0x00000001, 0x7F800000, 0xFF800001, 0x7FC12345, 0x3F800000};
  const std::vector<float> actual = dequantized(ElementType::f32, bits, std::size(bits));
  EXPECT_EQ(std::memcmp(actual.data(), bits, sizeof bits), 0);
}

TEST(Dequantize, TakesDataAtAnyAddress) {
  for (const BlockType& type : block_types()) {
    const std::string& raw = fixture().at(std::string(type.name) + ".raw").bytes;
    const std::size_t count = 8 * type.block_elements;
    const std::vector<float> aligned = dequantized(type.type, raw.data(), count);
    const std::string shifted = "x" + raw;
    const std::vector<float> unaligned = dequantized(type.type, shifted.data() + 1, count);
    EXPECT_TRUE(same_bits(aligned.data(), unaligned.data(), count)) << type.name;
  }
}

TEST(Dequantize, RefusesAPartOfABlock) {
  const std::vector<std::byte> data(1024);
  std::vector<float> values(256);
  EXPECT_THROW(dequantize(ElementType::q4_0, data.data(), 31, values.data()), Error);
  EXPECT_THROW(dequantize(ElementType::q4_k, data.data(), 128, values.data()), Error);
}

// A type without a minimum must not add one: 0 * negative is -0 and stays -0.
TEST(Dequantize, KeepsMinusZeroInTypesWithoutAMinimum) {
  BlockQ4_0 block{};
  block.d = 0x8000;                                 // -0
  for (std::uint8_t& byte : block.qs) byte = 0x99;  // every code is 9 - 8 = 1
  const std::vector<float> values = dequantized(ElementType::q4_0, &block, 32);
  for (const float value : values) EXPECT_TRUE(value == 0 && std::signbit(value));
}

TEST(FirstBadScale, FindsTheFirstScaleThatIsNotFinite) {
  for (const BlockType& type : block_types()) {
    std::string data;
    const std::string& raw = fixture().at(std::string(type.name) + ".raw").bytes;
    for (std::size_t b = 0; b < 8; ++b) data += raw.substr(b * type.block_bytes, type.block_bytes);
    ASSERT_EQ(first_bad_scale(type.type, data.data(), 8), -1) << type.name;
    for (const std::size_t offset : type.scale_offsets) {
      for (const std::uint16_t bad : {0x7C00, 0xFC00, 0x7C01, 0x7E00, 0xFFFF}) {
        for (const std::size_t block : {0u, 3u, 7u}) {
          std::string damaged = data;
          std::memcpy(damaged.data() + block * type.block_bytes + offset, &bad, 2);
          EXPECT_EQ(first_bad_scale(type.type, damaged.data(), 8), static_cast<std::ptrdiff_t>(block))
              << type.name << ", scale at byte " << offset << std::hex << " set to " << bad;
          EXPECT_EQ(first_bad_scale(type.type, damaged.data(), block), -1) << "only the blocks asked for are looked at";
        }
      }
    }
  }
}

TEST(FirstBadScale, AgreesWithTheReferenceFile) {
  for (const BlockType& type : block_types()) {
    const std::string& raw = fixture().at(std::string(type.name) + ".raw").bytes;
    std::ptrdiff_t expected = 0;
    while (expected < 64 && has_finite_scales(type, raw, static_cast<std::size_t>(expected))) ++expected;
    ASSERT_LT(expected, 64) << type.name;
    EXPECT_EQ(first_bad_scale(type.type, raw.data(), 64), expected) << type.name;
  }
}

TEST(FirstBadScale, IsNothingForPlainTypes) {
  const std::vector<std::uint16_t> nan_bits(64, 0x7FFF);
  EXPECT_EQ(first_bad_scale(ElementType::f32, nan_bits.data(), 32), -1);
  EXPECT_EQ(first_bad_scale(ElementType::f16, nan_bits.data(), 64), -1);
  EXPECT_EQ(first_bad_scale(ElementType::bf16, nan_bits.data(), 64), -1);
}

// The packed six-bit scales of Q4_K and Q5_K and the four-plus-two-bit scales of Q3_K, each set alone to all ones.
TEST(UnpackScales, PutsEveryBitOfAPackedScaleInItsPlace) {
  for (std::size_t bit = 0; bit < 96; ++bit) {
    BlockQ4_K q4{};
    BlockQ5_K q5{};
    BlockQ3_K q3{};
    q4.scales[bit / 8] = q5.scales[bit / 8] = q3.scales[bit / 8] = static_cast<std::uint8_t>(1u << (bit % 8));
    std::int8_t scales[16];
    std::int8_t scales_of_q5[16];
    std::uint8_t minimums[16];
    std::uint8_t minimums_of_q5[16];
    unpack_scales(q4, scales, minimums);
    unpack_scales(q5, scales_of_q5, minimums_of_q5);
    int total = 0;
    for (std::size_t j = 0; j < 8; ++j) {
      total += __builtin_popcount(static_cast<unsigned>(scales[j])) + __builtin_popcount(minimums[j]);
      EXPECT_EQ(scales[j], scales_of_q5[j]);
      EXPECT_EQ(minimums[j], minimums_of_q5[j]);
    }
    EXPECT_EQ(total, 1) << "bit " << bit << " of the packed scales of Q4_K is lost or counted twice";
    unpack_scales(q3, scales);
    total = 0;
    for (std::size_t j = 0; j < 16; ++j) total += __builtin_popcount(static_cast<unsigned>(scales[j] + 32));
    EXPECT_EQ(total, 1) << "bit " << bit << " of the packed scales of Q3_K is lost or counted twice";
  }
}

}  // namespace
}  // namespace lastbit::numerics
