// Every set, and both ways of each (direct and widened), against the contract in plain loops, byte for byte.
#include "kernels/matmul/matmul.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "kernels/matmul/kernels.hpp"
#include "numerics/dequantize.hpp"
#include "tests/support/compare.hpp"

#define LASTBIT_KERNELS MatmulKernels
#define LASTBIT_KERNELS_TABLE matmul_table
#define LASTBIT_KERNELS_OF matmul_kernels
#include "tests/support/kernel_sets.hpp"

namespace lastbit::kernels {
namespace {

using numerics::ElementType;
using test::same_bits;

constexpr ElementType kTypes[] = {
#define LASTBIT_PACKED_TYPE(name, layout) ElementType::name,
#include "kernels/matmul/packed_types.def"
#undef LASTBIT_PACKED_TYPE
};

constexpr std::size_t kOddSizes[] = {1, 5, 7, 9, 127, 128, 129, 255, 257, 1001, 4095};
constexpr std::size_t kRows[] = {1, 2, 3, 4, 5, 7, 13, 14, 15, 29, 64};

std::string type_name(ElementType type) { return std::string(numerics::element_type_info(type).name); }

/// Byte offsets of the binary16 scales in a block.
std::vector<std::size_t> scale_offsets(ElementType type) {
  switch (type) {
    case ElementType::q4_0:
      return {offsetof(numerics::BlockQ4_0, d)};
    case ElementType::q4_1:
      return {offsetof(numerics::BlockQ4_1, d), offsetof(numerics::BlockQ4_1, m)};
    case ElementType::q5_0:
      return {offsetof(numerics::BlockQ5_0, d)};
    case ElementType::q5_1:
      return {offsetof(numerics::BlockQ5_1, d), offsetof(numerics::BlockQ5_1, m)};
    case ElementType::q8_0:
      return {offsetof(numerics::BlockQ8_0, d)};
    case ElementType::q2_k:
      return {offsetof(numerics::BlockQ2_K, d), offsetof(numerics::BlockQ2_K, dmin)};
    case ElementType::q3_k:
      return {offsetof(numerics::BlockQ3_K, d)};
    case ElementType::q4_k:
      return {offsetof(numerics::BlockQ4_K, d), offsetof(numerics::BlockQ4_K, dmin)};
    case ElementType::q5_k:
      return {offsetof(numerics::BlockQ5_K, d), offsetof(numerics::BlockQ5_K, dmin)};
    case ElementType::q6_k:
      return {offsetof(numerics::BlockQ6_K, d)};
    default:
      return {};
  }
}

/// Ordinary: values of model weights. Extreme: every kind of number that a format has; for scales every finite kind.
enum class Data { ordinary, extreme };

std::uint16_t random_half(Data data, std::mt19937& random) {
  const std::uint32_t bits = random();
  const std::uint32_t sign = bits & 0x8000U;
  if (data == Data::ordinary) return static_cast<std::uint16_t>(sign | (0x1800U + ((bits >> 16) & 0x0FFFU)));
  switch ((bits >> 28) % 5) {
    case 0:
      return static_cast<std::uint16_t>(sign);  // zero
    case 1:
      return static_cast<std::uint16_t>(sign | ((bits >> 16) & 0x03FFU));  // subnormal
    case 2:
      return static_cast<std::uint16_t>(sign | 0x7BFFU);  // the greatest
    default:
      return static_cast<std::uint16_t>(sign | ((bits >> 16) & 0x7FFFU) % 0x7C00U);
  }
}

float random_float(Data data, std::mt19937& random) {
  const std::uint32_t bits = random();
  const float ordinary = (static_cast<float>(bits >> 8) * 0x1p-24F - 0.5F) * ((bits & 3) == 0 ? 8.0F : 1.0F);
  if (data == Data::ordinary) return ordinary;
  switch (bits % 512) {  // rare enough that many sums stay finite
    case 0:
      return std::numeric_limits<float>::infinity();
    case 1:
      return -std::numeric_limits<float>::infinity();
    case 2:
      return std::numeric_limits<float>::quiet_NaN();
    case 3:
      return -std::numeric_limits<float>::quiet_NaN();
    default:
      break;
  }
  switch (bits % 8) {
    case 0:
      return (bits & 16) != 0 ? -0.0F : 0.0F;
    case 1:
      return ordinary * 0x1p-140F;  // subnormal
    case 2:
      return ordinary * 0x1p-75F;  // products are subnormal or vanish
    case 3:
      return ordinary * 0x1p+60F;
    case 4:
      return std::ldexp((bits & 16) != 0 ? -1.0F : 1.0F, 20);  // cancels exactly against its like
    default:
      return ordinary;
  }
}

std::vector<float> random_floats(std::size_t count, Data data, std::mt19937& random) {
  std::vector<float> values(count);
  for (float& value : values) value = random_float(data, random);
  return values;
}

/// `elements` weights in the bytes of a checkpoint.
std::vector<std::byte> random_weights(ElementType type, std::size_t elements, Data data, std::mt19937& random) {
  const auto& info = numerics::element_type_info(type);
  std::vector<std::byte> bytes(elements / info.block_elements * info.block_bytes);
  if (numerics::is_block_quantized(type)) {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    for (std::size_t block = 0; block < bytes.size(); block += info.block_bytes) {
      for (const std::size_t offset : scale_offsets(type)) {
        const std::uint16_t scale = random_half(data, random);
        std::memcpy(bytes.data() + block + offset, &scale, sizeof scale);
      }
    }
    return bytes;
  }
  for (std::size_t i = 0; i < elements; ++i) {
    const float value = random_float(data, random);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    std::uint16_t half = static_cast<std::uint16_t>(bits >> 16);
    if (type == ElementType::f16) {
      // 512 is the period of rare values in random_float: about as many infinities and NaNs among all encodings.
      half = data == Data::extreme && random() % 128 == 0 ? static_cast<std::uint16_t>(0x7C00U | (bits & 0x8200U))
                                                          : random_half(data, random);
    }
    if (type == ElementType::f32) {
      std::memcpy(bytes.data() + 4 * i, &bits, sizeof bits);
    } else {
      std::memcpy(bytes.data() + 2 * i, &half, sizeof half);
    }
  }
  return bytes;
}

struct Shape {
  std::size_t outputs;
  std::size_t inputs;
  std::size_t rows;
};

/// One product: weights, inputs and what the contract says. Rows are longer than they need be on both sides: the gap
/// holds NaN where it must not be read and a sentinel where it must not be written.
class Case {
 public:
  Case(ElementType type, const Shape& shape, Data data, bool with_bias, std::mt19937& random)
      : type_(type), shape_(shape), input_stride_(shape.inputs + 5), output_stride_(shape.outputs + 3) {
    weights_ = random_weights(type, shape.outputs * shape.inputs, data, random);
    input_ = random_floats(shape.rows * input_stride_, data, random);
    for (std::size_t row = 0; row < shape.rows; ++row) {
      for (std::size_t k = shape.inputs; k < input_stride_; ++k) {
        input_[row * input_stride_ + k] = std::numeric_limits<float>::quiet_NaN();
      }
    }
    if (with_bias) bias_ = random_floats(shape.outputs, data, random);
    expected_ = fresh_output();
    matmul_reference(type, weights_.data(), shape.outputs, shape.inputs, input_.data(), input_stride_, shape.rows,
                     expected_.data(), output_stride_, bias());
  }

  std::vector<float> fresh_output() const {
    constexpr float kSentinel = 12345.0F;
    return std::vector<float>(shape_.rows * output_stride_, kSentinel);
  }

  PackedMatrix pack(ThreadPool& pool) const {
    return PackedMatrix(type_, weights_.data(), shape_.outputs, shape_.inputs, "weights", pool);
  }

  ::testing::AssertionResult matches(const MatmulKernels& kernels, const PackedMatrix& matrix,
                                     MatmulWorkspace& workspace, ThreadPool& pool) const {
    std::vector<float> output = fresh_output();
    matmul(kernels, matrix, input_.data(), input_stride_, shape_.rows, output.data(), output_stride_, bias(), workspace,
           pool);
    return same_bits(expected_.data(), output.data(), expected_.size());
  }

  std::string name() const {
    return type_name(type_) + " [" + std::to_string(shape_.outputs) + " x " + std::to_string(shape_.inputs) +
           "] rows " + std::to_string(shape_.rows);
  }
  const std::vector<float>& expected() const { return expected_; }

 private:
  const float* bias() const { return bias_.empty() ? nullptr : bias_.data(); }

  ElementType type_;
  Shape shape_;
  std::size_t input_stride_;
  std::size_t output_stride_;
  std::vector<std::byte> weights_;
  std::vector<float> input_;
  std::vector<float> bias_;
  std::vector<float> expected_;
};

/// The set with one of its two ways forced, whatever the number of rows for which it would be chosen.
std::vector<MatmulKernels> both_ways(const MatmulKernels& kernels) {
  MatmulKernels widened = kernels;
  widened.direct_until = 0;
  if (kernels.direct_until == 0) return {widened};
  MatmulKernels direct = kernels;
  direct.direct_until = std::numeric_limits<std::size_t>::max();
  return {direct, widened};
}

class Matmul : public ::testing::Test {
 protected:
  void expect_every_set_matches(const Case& one_case, bool with_emulated) {
    const PackedMatrix matrix = one_case.pack(pool_);
    for (const test::NamedKernels& set : test::kernel_sets()) {
      if (test::is_emulated(set) && !with_emulated) continue;
      int way = 0;
      for (const MatmulKernels& kernels : both_ways(*set.table)) {
        EXPECT_TRUE(one_case.matches(kernels, matrix, *workspace_, pool_))
            << set.name << (way++ == 0 ? ", first way: " : ", second way: ") << one_case.name();
      }
    }
  }

  std::mt19937 random_{20261201};
  ThreadPool pool_{2};
  std::unique_ptr<MatmulWorkspace, MatmulWorkspaceDeleter> workspace_ = make_matmul_workspace();
};

/// The sizes of the list as the type allows them: a row is a whole number of blocks.
std::vector<std::size_t> odd_input_sizes(ElementType type) {
  const std::size_t block = numerics::element_type_info(type).block_elements;
  std::vector<std::size_t> sizes;
  for (const std::size_t size : kOddSizes) {
    const std::size_t rounded = (size + block - 1) / block * block;
    if (sizes.empty() || sizes.back() != rounded) sizes.push_back(rounded);
  }
  return sizes;
}

TEST_F(Matmul, EverySetGivesTheContractsBitsOnOddShapesOfEveryType) {
  std::size_t turn = 0;
  for (const ElementType type : kTypes) {
    for (const std::size_t inputs : odd_input_sizes(type)) {
      for (const std::size_t outputs : kOddSizes) {
        // Both sizes above 1000 at once show nothing more.
        constexpr std::size_t kEnough = std::size_t{1} << 19;
        if (outputs * inputs > kEnough && outputs > 5 && inputs > 256) continue;
        const std::size_t rows = kRows[turn++ % std::size(kRows)];
        if (test::small_tests() && outputs * inputs * rows > std::size_t{1} << 17) continue;
        const Case one_case(type, {outputs, inputs, rows}, Data::ordinary, turn % 2 == 0, random_);
        expect_every_set_matches(one_case, outputs * inputs * rows <= 20000);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(Matmul, EverySetGivesTheContractsBitsForEveryNumberOfRows) {
  for (const ElementType type : kTypes) {
    for (std::size_t rows = 1; rows <= 33; rows += test::small_tests() ? 4 : 1) {
      const Case one_case(type, {70, 256, rows}, Data::ordinary, false, random_);
      expect_every_set_matches(one_case, rows == 3 || rows == 17);
      if (HasFailure()) return;
    }
  }
}

TEST_F(Matmul, EverySetGivesTheContractsBitsOnExtremeNumbers) {
  for (const ElementType type : kTypes) {
    const std::size_t block = numerics::element_type_info(type).block_elements;
    for (const std::size_t rows : {1U, 4U, 15U}) {
      const std::size_t inputs = block == 1 ? 203 : block == 32 ? 160 : 256;
      const Case one_case(type, {67, inputs, rows}, Data::extreme, rows != 4, random_);
      expect_every_set_matches(one_case, true);
      if (HasFailure()) return;
    }
  }
}

TEST_F(Matmul, ExtremeDataReachesEveryKindOfResult) {
  std::size_t nan = 0;
  std::size_t infinite = 0;
  std::size_t finite = 0;
  for (int i = 0; i < 20; ++i) {
    const Case one_case(ElementType::f32, {67, 37, 5}, Data::extreme, false, random_);
    for (const float value : one_case.expected()) {
      if (std::isnan(value)) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        ASSERT_EQ(bits, 0x7FC00000U);
      }
      ++(std::isnan(value) ? nan : std::isinf(value) ? infinite : finite);
    }
  }
  EXPECT_GT(nan, 20U);
  EXPECT_GT(infinite, 20U);
  EXPECT_GT(finite, 20U);
}

TEST_F(Matmul, TheBitsDoNotDependOnTheNumberOfThreads) {
  for (const std::size_t rows : {1U, 6U, test::small_tests() ? 60U : 600U}) {
    const Case one_case(ElementType::q5_0, {257, 1056, rows}, Data::ordinary, true, random_);
    for (const int threads : {1, 2, 3, 5}) {
      ThreadPool pool(threads);
      const PackedMatrix matrix = one_case.pack(pool);
      for (const cpu::Isa isa : cpu::all_isas()) {
        if (!cpu::isa_supported(isa)) continue;
        EXPECT_TRUE(one_case.matches(matmul_kernels(isa), matrix, *workspace_, pool))
            << cpu::isa_name(isa) << ", " << threads << " threads: " << one_case.name();
      }
    }
  }
}

TEST_F(Matmul, ASumOverNothingIsPlusZeroAndThenTheBias) {
  const Case without_bias(ElementType::f32, {9, 0, 3}, Data::ordinary, false, random_);
  EXPECT_EQ(without_bias.expected()[0], 0.0F);
  EXPECT_FALSE(std::signbit(without_bias.expected()[0]));
  expect_every_set_matches(without_bias, true);
  expect_every_set_matches(Case(ElementType::q8_0, {9, 0, 30}, Data::ordinary, true, random_), true);
}

TEST_F(Matmul, NoRowsAndNoOutputsWriteNothing) {
  expect_every_set_matches(Case(ElementType::q8_0, {9, 32, 0}, Data::ordinary, true, random_), true);
  expect_every_set_matches(Case(ElementType::q8_0, {0, 32, 3}, Data::ordinary, false, random_), true);
}

// ---- the comparison itself: orders that are not the contract's must fail it
// ------------------------------------------

/// One output by a rule that may differ from A2 in the length of its chunks or in where k is split.
float sum_in_another_order(const std::vector<float>& a, const std::vector<float>& b, std::size_t chunk, bool fused) {
  float s = 0.0F;
  for (std::size_t begin = 0; begin < a.size(); begin += chunk) {
    float p = 0.0F;
    for (std::size_t k = begin; k < a.size() && k < begin + chunk; ++k) {
      p = fused ? std::fma(a[k], b[k], p) : a[k] * b[k] + p;
    }
    s += p;
  }
  return s;
}

TEST_F(Matmul, TheComparisonSeesAnotherOrder) {
  constexpr std::size_t kInputs = 1001;
  constexpr std::size_t kRepetitions = 64;
  std::size_t equal = 0;
  std::size_t seen_chunk_256 = 0;
  std::size_t seen_one_chain = 0;
  std::size_t seen_split_k = 0;
  std::size_t seen_unfused = 0;
  for (std::size_t i = 0; i < kRepetitions; ++i) {
    const std::vector<float> a = random_floats(kInputs, Data::ordinary, random_);
    const std::vector<float> b = random_floats(kInputs, Data::ordinary, random_);
    float expected = 0.0F;
    matmul_reference(ElementType::f32, a.data(), 1, kInputs, b.data(), kInputs, 1, &expected, 1, nullptr);
    const auto differs = [&](float other) { return same_bits(&expected, &other, 1) ? 0U : 1U; };
    equal += 1 - differs(sum_in_another_order(a, b, 128, true));
    seen_chunk_256 += differs(sum_in_another_order(a, b, 256, true));
    seen_one_chain += differs(sum_in_another_order(a, b, kInputs, true));
    seen_split_k += differs(sum_in_another_order(a, b, 512, true));
    seen_unfused += differs(sum_in_another_order(a, b, 128, false));
  }
  EXPECT_EQ(equal, kRepetitions);
  EXPECT_GT(seen_chunk_256, kRepetitions / 4);
  EXPECT_GT(seen_one_chain, kRepetitions / 4);
  EXPECT_GT(seen_split_k, kRepetitions / 4);
  EXPECT_GT(seen_unfused, kRepetitions / 4);
}

TEST_F(Matmul, AWrongKernelFailsTheComparison) {
  const Case one_case(ElementType::f32, {67, 300, 8}, Data::ordinary, true, random_);
  const PackedMatrix matrix = one_case.pack(pool_);
  MatmulKernels wrong = matmul_kernels(cpu::Isa::scalar);
  ASSERT_TRUE(one_case.matches(wrong, matrix, *workspace_, pool_));
  wrong.finish = [](const float* sums, const float*, std::size_t outputs, float* output) {
    std::memcpy(output, sums, outputs * sizeof(float));  // a forgotten bias
  };
  EXPECT_FALSE(one_case.matches(wrong, matrix, *workspace_, pool_));
  const Case without_bias(ElementType::f32, {67, 300, 8}, Data::ordinary, false, random_);
  ASSERT_TRUE(without_bias.matches(wrong, without_bias.pack(pool_), *workspace_, pool_));
  wrong.finish = [](const float* sums, const float*, std::size_t outputs, float* output) {
    std::memcpy(output, sums, (outputs < kPanelOutputs ? outputs + 1 : outputs) * sizeof(float));  // one too many
  };
  EXPECT_FALSE(without_bias.matches(wrong, without_bias.pack(pool_), *workspace_, pool_));
}

// ---- packing --------------------------------------------------------------------------------------------------------

TEST_F(Matmul, UnpackingGivesTheCheckpointsValues) {
  for (const ElementType type : kTypes) {
    for (const Data data : {Data::ordinary, Data::extreme}) {
      constexpr std::size_t kOutputs = 70;
      const std::size_t inputs = numerics::is_block_quantized(type) ? 768 : 77;
      const std::vector<std::byte> weights = random_weights(type, kOutputs * inputs, data, random_);
      const PackedMatrix matrix(type, weights.data(), kOutputs, inputs, "weights", pool_);
      EXPECT_EQ(matrix.checkpoint_bytes(), weights.size());
      std::vector<float> expected(inputs);
      std::vector<float> actual(inputs);
      for (std::size_t output = 0; output < kOutputs; ++output) {
        numerics::dequantize(type, weights.data() + output * (weights.size() / kOutputs), inputs, expected.data());
        matrix.unpack_output(output, actual.data());
        ASSERT_TRUE(same_bits(expected.data(), actual.data(), inputs)) << type_name(type) << " output " << output;
      }
    }
  }
}

TEST_F(Matmul, PackedSizesAreTheStorageWidths) {
  const auto bytes_of_256_k = [&](ElementType type) {
    const std::vector<std::byte> weights = random_weights(type, 64 * 256, Data::ordinary, random_);
    return PackedMatrix(type, weights.data(), 64, 256, "weights", pool_).panel_bytes();
  };
  // Bytes per 256 weights of an output: equal to the checkpoint's where codes keep their width and scales their coding.
  EXPECT_EQ(bytes_of_256_k(ElementType::f32), 64 * 1024U);
  EXPECT_EQ(bytes_of_256_k(ElementType::bf16), 64 * 512U);
  EXPECT_EQ(bytes_of_256_k(ElementType::q8_0), 64 * 8 * 34U);
  EXPECT_EQ(bytes_of_256_k(ElementType::q4_0), 64 * 8 * 18U);
  EXPECT_EQ(bytes_of_256_k(ElementType::q5_0), 64 * 8 * 22U);
  EXPECT_EQ(bytes_of_256_k(ElementType::q6_k), 64 * 210U);
  EXPECT_EQ(bytes_of_256_k(ElementType::q4_k), 64 * (144 + 4U));  // six-bit scales and minimums as bytes
}

TEST_F(Matmul, AScaleThatIsNotFiniteIsRefusedByNameOutputAndPlace) {
  for (const ElementType type : kTypes) {
    const auto& info = numerics::element_type_info(type);
    for (const std::size_t offset : scale_offsets(type)) {
      for (const std::uint16_t bad : {0x7C00, 0xFC00, 0x7E01}) {
        constexpr std::size_t kOutputs = 130;
        const std::size_t inputs = 3 * info.block_elements;
        std::vector<std::byte> weights = random_weights(type, kOutputs * inputs, Data::ordinary, random_);
        for (const std::size_t output : {67U, 69U, 129U}) {  // the first one is named, whichever thread saw which
          std::memcpy(weights.data() + (output * 3 + 2) * info.block_bytes + offset, &bad, sizeof bad);
        }
        try {
          const PackedMatrix matrix(type, weights.data(), kOutputs, inputs, "blk.7.weight", pool_);
          ADD_FAILURE() << type_name(type) << ": accepted";
        } catch (const Error& error) {
          const std::string message = error.what();
          EXPECT_EQ(error.kind(), ErrorKind::input);
          EXPECT_NE(message.find("blk.7.weight"), std::string::npos) << message;
          EXPECT_NE(message.find("output 67 "), std::string::npos) << message;
          EXPECT_NE(message.find("k = " + std::to_string(2 * info.block_elements) + " "), std::string::npos) << message;
        }
      }
    }
  }
}

TEST_F(Matmul, ARowThatIsNotWholeBlocksIsRefused) {
  const std::vector<std::byte> weights(4096);
  EXPECT_THROW(PackedMatrix(ElementType::q8_0, weights.data(), 1, 33, "weights", pool_), Error);
  EXPECT_THROW(PackedMatrix(ElementType::q4_k, weights.data(), 1, 128, "weights", pool_), Error);
}

}  // namespace
}  // namespace lastbit::kernels
