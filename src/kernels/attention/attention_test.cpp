#include "kernels/attention/attention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/thread_pool.hpp"
#include "numerics/elementary/elementary.hpp"
#include "tests/support/compare.hpp"

#define LASTBIT_KERNELS AttentionKernels
#define LASTBIT_KERNELS_TABLE attention_table
#define LASTBIT_KERNELS_OF attention_kernels
#include "tests/support/kernel_sets.hpp"

namespace lastbit::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Shape {
  std::size_t rows = 1;
  std::size_t first_position = 0;
  std::size_t query_heads = 1;
  std::size_t key_value_heads = 1;
  std::size_t head_dim = 8;
  std::size_t window = 0;
  float soft_cap = 0.0F;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  return out << shape.rows << " rows at position " << shape.first_position << ", " << shape.query_heads << "/"
             << shape.key_value_heads << " heads of " << shape.head_dim << ", window " << shape.window << ", soft cap "
             << shape.soft_cap;
}

using Values = std::function<float()>;

Values normal_values(unsigned seed) {
  return [generator = std::mt19937(seed), normal = std::normal_distribution<float>()]() mutable {
    return normal(generator);
  };
}

/// Mostly normal values, one in `rarity` an extreme one.
Values extreme_values(unsigned seed, unsigned rarity) {
  return [generator = std::mt19937(seed), normal = std::normal_distribution<float>(), rarity]() mutable {
    static constexpr float kExtremes[] = {0x1p-149F, -0x1.8p-130F, kInfinity, -kInfinity, kNaN,   -0.0F, 0.0F,
                                          1e30F,     -1e30F,       3e38F,     -3e38F,     1e-38F, 1e4F,  -1e4F};
    const float ordinary = normal(generator);
    const unsigned pick = static_cast<unsigned>(generator());
    return pick % rarity == 0 ? kExtremes[pick / rarity % std::size(kExtremes)] : ordinary;
  };
}

/// Inputs of a pass. Everything that no row sees is NaN, pages that no row sees do not exist (nullptr).
class Problem {
 public:
  Problem(const Shape& shape, const Values& query, const Values& key, const Values& value) : shape_(shape) {
    query_.resize(shape.rows * stride());
    std::generate(query_.begin(), query_.end(), query);
    const std::size_t end = shape.first_position + shape.rows;
    const std::size_t first =
        shape.window != 0 && shape.first_position + 1 > shape.window ? shape.first_position + 1 - shape.window : 0;
    keys_.resize((end + kPagePositions - 1) / kPagePositions);
    values_.resize(keys_.size());
    for (std::size_t page = first / kPagePositions; page < keys_.size(); ++page) {
      keys_[page].assign(shape.key_value_heads * shape.head_dim * kPagePositions, kNaN);
      values_[page].assign(keys_[page].size(), kNaN);
    }
    for (std::size_t position = first; position < end; ++position) {
      for (std::size_t head = 0; head < shape.key_value_heads; ++head) {
        for (std::size_t d = 0; d < shape.head_dim; ++d) {
          this->key(position, head, d) = key();
          this->value(position, head, d) = value();
        }
      }
    }
  }
  Problem(const Shape& shape, unsigned seed)
      : Problem(shape, normal_values(seed), normal_values(seed + 1000), normal_values(seed + 2000)) {}

  const Shape& shape() const { return shape_; }
  /// The same keys, fewer of them seen.
  Problem with_window(std::size_t window) const {
    Problem result = *this;
    result.shape_.window = window;
    return result;
  }
  std::size_t stride() const { return shape_.query_heads * shape_.head_dim; }
  float& query(std::size_t row, std::size_t head, std::size_t d) {
    return query_[row * stride() + head * shape_.head_dim + d];
  }
  float& key(std::size_t position, std::size_t head, std::size_t d) {
    return keys_[position / kPagePositions][(head * shape_.head_dim + d) * kPagePositions + position % kPagePositions];
  }
  float& value(std::size_t position, std::size_t head, std::size_t d) {
    return values_[position / kPagePositions]
                  [(head * kPagePositions + position % kPagePositions) * shape_.head_dim + d];
  }

  /// The rows [begin, end) of the pass.
  AttentionArguments arguments(std::vector<float>& output, std::size_t begin, std::size_t end) {
    output.resize(query_.size());
    key_pages_.clear();
    value_pages_.clear();
    for (std::size_t page = 0; page < keys_.size(); ++page) {
      key_pages_.push_back(keys_[page].empty() ? nullptr : keys_[page].data());
      value_pages_.push_back(values_[page].empty() ? nullptr : values_[page].data());
    }
    AttentionArguments result;
    result.query = query_.data() + begin * stride();
    result.query_stride = result.output_stride = stride();
    result.output = output.data() + begin * stride();
    result.rows = end - begin;
    result.first_position = shape_.first_position + begin;
    result.query_heads = shape_.query_heads;
    result.key_value_heads = shape_.key_value_heads;
    result.head_dim = shape_.head_dim;
    result.key_pages = key_pages_.data();
    result.value_pages = value_pages_.data();
    result.window = shape_.window;
    result.scale = 1.0 / std::sqrt(static_cast<double>(shape_.head_dim));
    result.soft_cap = shape_.soft_cap;
    return result;
  }

  std::vector<float> reference() {
    std::vector<float> output;
    attention_reference(arguments(output, 0, shape_.rows));
    return output;
  }
  std::vector<float> compute(const AttentionKernels& kernels, ThreadPool& pool) {
    std::vector<float> output;
    attention(kernels, arguments(output, 0, shape_.rows), pool);
    return output;
  }

 private:
  Shape shape_;
  std::vector<float> query_;
  std::vector<std::vector<float>> keys_;
  std::vector<std::vector<float>> values_;
  std::vector<const float*> key_pages_;
  std::vector<const float*> value_pages_;
};

::testing::AssertionResult same_bits(const std::vector<float>& expected, const std::vector<float>& actual) {
  if (expected.size() != actual.size()) return ::testing::AssertionFailure() << "sizes differ";
  return test::same_bits(expected.data(), actual.data(), expected.size());
}

void expect_every_set_equal(Problem problem) {
  SCOPED_TRACE(::testing::Message() << problem.shape());
  const std::vector<float> expected = problem.reference();
  ThreadPool one(1);
  ThreadPool three(3);
  for (const auto& set : test::kernel_sets()) {
    EXPECT_TRUE(same_bits(expected, problem.compute(*set.table, one))) << set.name << ", one thread";
    if (test::is_emulated(set)) continue;  // slow, and the cut of the work is not theirs
    EXPECT_TRUE(same_bits(expected, problem.compute(*set.table, three))) << set.name << ", three threads";
  }
}

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

// ---- a second implementation, written apart from the reference, with mistakes that can be planted
// --------------------

enum class Mistake {
  none,
  window_one_too_wide,
  window_one_too_narrow,
  sees_the_next_key,
  folds_descending,
  one_chain_for_the_score,
  one_chain_for_the_denominator,
  one_chunk_for_all_keys,
  scale_in_binary32,
  masked_keys_with_weight_zero,
  normalises_each_chunk,
};

struct Folded {
  std::vector<float> sum;
  float denominator = 0.0F;
  float reference = 0.0F;
  bool empty = true;
};

float power_of_two(float exponent) { return exponent < -64.0F ? 0.0F : std::exp2(exponent); }

float second_score(Problem& problem, std::size_t row, std::size_t head, std::size_t position, Mistake mistake) {
  const Shape& shape = problem.shape();
  const std::size_t chunk = mistake == Mistake::one_chain_for_the_score ? shape.head_dim : 128;
  const std::size_t key_head = head * shape.key_value_heads / shape.query_heads;
  float total = 0.0F;
  float part = 0.0F;
  for (std::size_t d = 0; d < shape.head_dim; ++d) {
    part = std::fma(problem.query(row, head, d), problem.key(position, key_head, d), part);
    if ((d + 1) % chunk == 0 || d + 1 == shape.head_dim) {
      total += part;
      part = 0.0F;
    }
  }
  const double scale = 1.0 / std::sqrt(static_cast<double>(shape.head_dim));
  if (shape.soft_cap != 0.0F) {
    const float inner = total * static_cast<float>(scale) / shape.soft_cap;
    return numerics::tanh(inner) * shape.soft_cap * 0x1.715476p+0F;
  }
  const float factor = mistake == Mistake::scale_in_binary32
                           ? static_cast<float>(scale) * 0x1.715476p+0F
                           : static_cast<float>(scale * 1.442695040888963407359924681001892137);
  return total * factor;
}

Folded second_chunk(Problem& problem, std::size_t row, std::size_t head, std::size_t begin, std::size_t end,
                    Mistake mistake) {
  const Shape& shape = problem.shape();
  const std::size_t key_head = head * shape.key_value_heads / shape.query_heads;
  std::vector<float> nearest;
  std::vector<float> power;
  Folded result;
  for (std::size_t j = begin; j < end; ++j) {
    const float t = second_score(problem, row, head, j, mistake);
    const float n = std::rint(t);
    const float f = t - n;
    float e = 0x1.44138ap-13F;
    for (const float c : {0x1.5f089p-10F, 0x1.3b2a54p-7F, 0x1.c6af6cp-5F, 0x1.ebfbep-3F, 0x1.62e43p-1F, 1.0F}) {
      e = std::fma(e, f, c);
    }
    nearest.push_back(n);
    power.push_back(e);
  }
  result.empty = false;
  result.reference = *std::max_element(nearest.begin(), nearest.end());
  result.sum.assign(shape.head_dim, 0.0F);
  std::vector<float> lanes(mistake == Mistake::one_chain_for_the_denominator ? 1 : 32, 0.0F);
  for (std::size_t j = begin; j < end; ++j) {
    const float weight = power[j - begin] * power_of_two(nearest[j - begin] - result.reference);
    lanes[j % lanes.size()] += weight;
    for (std::size_t d = 0; d < shape.head_dim; ++d) {
      result.sum[d] = std::fma(weight, problem.value(j, key_head, d), result.sum[d]);
    }
  }
  for (std::size_t j = end; mistake == Mistake::masked_keys_with_weight_zero && j % 128 != 0; ++j) {
    for (std::size_t d = 0; d < shape.head_dim; ++d) {
      result.sum[d] = std::fma(0.0F, problem.value(j, key_head, d), result.sum[d]);
    }
  }
  for (std::size_t width = lanes.size() / 2; width > 0; width /= 2) {
    for (std::size_t l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  }
  result.denominator = lanes[0];
  return result;
}

void second_fold(Folded& total, const Folded& chunk) {
  if (total.empty) total = {std::vector<float>(chunk.sum.size(), 0.0F), 0.0F, chunk.reference, false};
  const bool chunk_larger = chunk.reference > total.reference;
  const float factor = power_of_two(-std::abs(chunk.reference - total.reference));
  const auto join = [&](float so_far, float next) {
    return chunk_larger ? std::fma(so_far, factor, next) : std::fma(next, factor, so_far);
  };
  for (std::size_t d = 0; d < chunk.sum.size(); ++d) total.sum[d] = join(total.sum[d], chunk.sum[d]);
  total.denominator = join(total.denominator, chunk.denominator);
  total.reference = std::max(total.reference, chunk.reference);
}

/// Finite inputs only.
std::vector<float> second_implementation(Problem& problem, Mistake mistake) {
  const Shape& shape = problem.shape();
  std::vector<float> output;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const std::size_t position = shape.first_position + row;
    std::size_t window = shape.window == 0 ? position + 1 : shape.window;
    if (mistake == Mistake::window_one_too_wide) ++window;
    if (mistake == Mistake::window_one_too_narrow) --window;
    const std::size_t end = position + (mistake == Mistake::sees_the_next_key && row + 1 < shape.rows ? 2 : 1);
    const std::size_t begin = position + 1 > window ? position + 1 - window : 0;
    for (std::size_t head = 0; head < shape.query_heads; ++head) {
      std::vector<Folded> chunks;
      const std::size_t chunk_size = mistake == Mistake::one_chunk_for_all_keys ? end : 128;
      for (std::size_t j = begin; j < end; j = (j / chunk_size + 1) * chunk_size) {
        chunks.push_back(
            second_chunk(problem, row, head, j, std::min((j / chunk_size + 1) * chunk_size, end), mistake));
      }
      if (mistake == Mistake::folds_descending) std::reverse(chunks.begin(), chunks.end());
      Folded total;
      for (Folded& chunk : chunks) {
        if (mistake == Mistake::normalises_each_chunk) {  // normalised chunks, as a log-sum-exp merge would keep them
          for (float& sum : chunk.sum) sum = sum / chunk.denominator * chunk.denominator;
        }
        second_fold(total, chunk);
      }
      for (const float sum : total.sum) output.push_back(sum / total.denominator);
    }
  }
  return output;
}

// ---- equality
// ----------------------------------------------------------------------------------------------------------

TEST(Attention, EverySetGivesTheBitsOfTheReferenceOnOddRowsPositionsAndWindows) {
  unsigned seed = 1;
  for (const std::size_t rows : {1, 5, 7, 9, 15, 33, 129}) {
    for (const std::size_t window : {0, 1, 5, 127, 128, 129, 200, 512}) {
      const std::size_t first = std::vector<std::size_t>{0, 1, 120, 127, 128, 250, 257}[seed % 7];
      expect_every_set_equal(Problem({rows, first, 2, 1, 8, window, 0.0F}, seed));
      ++seed;
    }
  }
}

TEST(Attention, EverySetGivesTheBitsOfTheReferenceFarIntoTheSequence) {
  unsigned seed = 100;
  for (const std::size_t last : {127, 128, 129, 255, 257, 1001}) {
    for (const std::size_t rows : {1, 9}) {
      for (const std::size_t window : {0, 200}) {
        expect_every_set_equal(Problem({rows, last + 1 - rows, 2, 2, 16, window, 0.0F}, seed++));
      }
    }
  }
}

TEST(Attention, EverySetGivesTheBitsOfTheReferenceForEveryHeadSizeAndRatio) {
  unsigned seed = 200;
  for (const std::size_t head_dim : {1, 3, 5, 8, 64, 80, 127, 128, 129, 256, 300}) {
    for (const std::size_t ratio : {1, 2, 4}) {
      expect_every_set_equal(Problem({3, 126, 2 * ratio, 2, head_dim, 0, 0.0F}, seed++));
    }
  }
}

TEST(Attention, EveryNumberOfQueriesInABlockGivesTheBitsOfTheReference) {
  for (std::size_t rows = 1; rows <= 30; ++rows) {
    expect_every_set_equal(Problem({rows, 118, 1, 1, 20, 0, 0.0F}, static_cast<unsigned>(300 + rows)));
  }
}

TEST(Attention, EverySetGivesTheBitsOfTheReferenceUnderASoftCap) {
  for (const float soft_cap : {50.0F, 0.5F}) {
    Problem problem({9, 125, 4, 2, 64, 130, soft_cap}, 400);
    expect_every_set_equal(problem);
    Problem without({9, 125, 4, 2, 64, 130, 0.0F}, 400);
    EXPECT_FALSE(same_bits(problem.reference(), without.reference()));
  }
}

TEST(Attention, EverySetGivesTheBitsOfTheReferenceOnExtremeValues) {
  for (unsigned seed = 500; seed < 540; ++seed) {
    const unsigned rarity = seed % 2 == 0 ? 40 : 700;
    const float soft_cap = seed % 3 == 0 ? 30.0F : 0.0F;
    expect_every_set_equal(Problem({9, seed % 4 == 0 ? 250U : 3U, 2, 1, 9, seed % 5 == 0 ? 130U : 0U, soft_cap},
                                   extreme_values(seed, rarity), extreme_values(seed + 1000, 3 * rarity),
                                   extreme_values(seed + 2000, 3 * rarity)));
  }
}

TEST(Attention, EverySetGivesTheBitsOfTheReferenceOnHugeScores) {
  for (const float size : {1e3F, 1e9F, 1e15F}) {  // t about 1e6, 1e18, 1e30
    const auto scaled = [&](unsigned seed) {
      return [values = normal_values(seed), size]() mutable { return size * values(); };
    };
    Problem problem({5, 255, 2, 1, 24, 0, 0.0F}, scaled(1), scaled(2), normal_values(3));
    expect_every_set_equal(problem);
    EXPECT_TRUE(all_finite(problem.reference()));
  }
}

TEST(Attention, EverySetGivesTheBitsOfTheReferenceWhenValuesCancel) {
  Problem problem({7, 250, 2, 1, 16, 0, 0.0F}, 600);
  for (std::size_t position = 0; position < 257; ++position) {
    for (std::size_t d = 0; d < 16; ++d) {
      problem.value(position, 0, d) = (position % 2 == 0 ? 1e20F : -1e20F) + problem.value(position, 0, d) * 1e13F;
    }
  }
  expect_every_set_equal(problem);
}

TEST(Attention, RowsGiveTheSameBitsAllAtOnceOneByOneAndInAnyChunks) {
  for (const std::size_t window : {0, 100}) {
    const Shape shape{150, 120, 4, 2, 40, window, 0.0F};
    Problem whole(shape, 700);
    const std::vector<float> expected = whole.reference();
    for (const auto& set : test::kernel_sets()) {
      for (const std::size_t chunk : {1, 7, 64, 127, 128, 129}) {
        if (test::is_emulated(set) && chunk != 7) continue;
        ThreadPool pool(chunk % 3 == 0 ? 2 : 1);
        std::vector<float> actual;
        for (std::size_t begin = 0; begin < shape.rows; begin += chunk) {
          const std::size_t end = std::min(begin + chunk, shape.rows);
          attention(*set.table, whole.arguments(actual, begin, end), pool);
        }
        EXPECT_TRUE(same_bits(expected, actual)) << set.name << ", chunk " << chunk << ", window " << window;
      }
    }
  }
}

TEST(Attention, KeysBehindARowNeverShowInIt) {
  const Shape shape{40, 100, 2, 1, 16, 60, 0.0F};
  Problem whole(shape, 800);
  const std::vector<float> expected = whole.reference();
  ASSERT_TRUE(all_finite(expected)) << "what Problem puts into masked slots is NaN";
  ThreadPool pool(1);
  for (const auto& set : test::kernel_sets()) {
    std::vector<float> actual;
    for (std::size_t row = 0; row < shape.rows; ++row) {  // row by row, the keys behind the row and its window NaN
      Problem masked = whole;
      for (std::size_t j = 41; j < 140; ++j) {
        if (j <= 100 + row && j + 60 > 100 + row) continue;
        for (std::size_t d = 0; d < 16; ++d) masked.key(j, 0, d) = masked.value(j, 0, d) = kNaN;
      }
      attention(*set.table, masked.arguments(actual, row, row + 1), pool);
    }
    EXPECT_TRUE(same_bits(expected, actual)) << set.name;
  }
}

TEST(Attention, TheNumberOfThreadsNeverShows) {
  // Few rows that see many keys are cut by pages, the others by rows and heads.
  for (const Shape& shape : {Shape{1, 2200, 4, 2, 128, 0, 0.0F}, Shape{3, 2270, 4, 2, 128, 2200, 0.0F},
                             Shape{3, 300, 4, 2, 48, 0, 0.0F}, Shape{70, 300, 4, 2, 48, 0, 0.0F}}) {
    Problem problem(shape, 900);
    const std::vector<float> expected = problem.reference();
    for (const auto& set : test::kernel_sets()) {
      if (test::is_emulated(set) || set.name == "scalar") continue;
      for (const int threads : {1, 2, 3, 5, 16}) {
        ThreadPool pool(threads);
        EXPECT_TRUE(same_bits(expected, problem.compute(*set.table, pool)))
            << set.name << ", " << threads << ", " << shape;
      }
    }
  }
}

TEST(Attention, StridesWiderThanTheRowsAreKept) {
  Problem problem({6, 20, 2, 1, 12, 0, 0.0F}, 950);
  const std::vector<float> expected = problem.reference();
  std::vector<float> output;
  AttentionArguments arguments = problem.arguments(output, 0, 6);
  std::vector<float> wide_query(6 * 31, kNaN);
  std::vector<float> wide_output(6 * 37, 7.0F);
  for (std::size_t row = 0; row < 6; ++row) std::copy_n(arguments.query + row * 24, 24, wide_query.data() + row * 31);
  arguments.query = wide_query.data();
  arguments.query_stride = 31;
  arguments.output = wide_output.data();
  arguments.output_stride = 37;
  ThreadPool pool(2);
  for (const auto& set : test::kernel_sets()) {
    attention(*set.table, arguments, pool);
    for (std::size_t row = 0; row < 6; ++row) {
      EXPECT_TRUE(test::same_bits(expected.data() + row * 24, wide_output.data() + row * 37, 24)) << set.name;
      for (std::size_t i = 24; i < 37; ++i) EXPECT_EQ(wide_output[row * 37 + i], 7.0F) << set.name;
    }
  }
}

// ---- the rule's own words
// ----------------------------------------------------------------------------------------------

/// One row at `position`, one head of one dimension, query 1, so that the score of key j is key j.
Problem single_row(std::size_t position) {
  return Problem(
      {1, position, 1, 1, 1, 0, 0.0F}, [] { return 1.0F; }, [] { return 0.0F; }, [] { return 1.0F; });
}

void expect_result(Problem problem, float expected) {
  ThreadPool pool(1);
  EXPECT_TRUE(same_bits({expected}, problem.reference())) << "reference";
  for (const auto& set : test::kernel_sets()) {
    EXPECT_TRUE(same_bits({expected}, problem.compute(*set.table, pool))) << set.name;
  }
}

TEST(Attention, AScoreThatIsNaNOrPlusInfinityMakesTheRowTheCanonicalNaN) {
  for (const float score : {kNaN, -kNaN, kInfinity}) {
    for (const std::size_t where : {0, 100, 128, 200}) {
      Problem problem = single_row(200);
      problem.key(where, 0, 0) = score;
      expect_result(problem, kNaN);
    }
  }
}

TEST(Attention, ANaNOrInfinityAmongTheValuesGivesTheCanonicalNaNOrInfinity) {
  Problem with_nan = single_row(200);
  with_nan.value(150, 0, 0) = -kNaN;
  expect_result(with_nan, kNaN);
  Problem with_infinity = single_row(200);
  with_infinity.value(150, 0, 0) = -kInfinity;
  expect_result(with_infinity, -kInfinity);
}

TEST(Attention, ARowOfMinusInfinityOnlyIsNaN) {
  for (const std::size_t position : {0, 5, 127, 300}) {
    Problem problem = single_row(position);
    for (std::size_t j = 0; j <= position; ++j) problem.key(j, 0, 0) = -kInfinity;
    expect_result(problem, kNaN);
  }
}

TEST(Attention, AMinusInfinityKeyHasWeightZeroAndItsFmaIsExecuted) {
  Problem problem = single_row(3);
  problem.key(1, 0, 0) = -kInfinity;
  problem.value(1, 0, 0) = 1000.0F;
  expect_result(problem, 1.0F);
  problem.value(1, 0, 0) = kInfinity;  // 0 * Inf
  expect_result(problem, kNaN);
}

TEST(Attention, AChunkOfMinusInfinityOnlyIsSkipped) {
  for (const std::size_t chunk : {0, 1, 2}) {
    Problem problem = single_row(300);
    for (std::size_t j = 128 * chunk; j < std::min<std::size_t>(128 * chunk + 128, 301); ++j) {
      problem.key(j, 0, 0) = -kInfinity;
      problem.value(j, 0, 0) = kInfinity;  // would show if its fma were executed
    }
    expect_result(problem, 1.0F);
  }
}

TEST(Attention, WeightsMoreThan64PowersOfTwoSmallerAreZero) {
  const float one_power = 0x1.62e43p-1F;  // ln 2: t = 1
  Problem problem = single_row(1);
  problem.key(0, 0, 0) = -64.0F * one_power;
  problem.value(0, 0, 0) = 0x1p100F;
  problem.value(1, 0, 0) = 0.0F;
  std::vector<float> at_64 = problem.reference();
  EXPECT_GT(at_64[0], 0x1p35F);
  expect_result(problem, at_64[0]);
  problem.key(0, 0, 0) = -65.0F * one_power;
  expect_result(problem, 0.0F);
}

TEST(Attention, ANegativeZeroOfAllValuesBecomesPositive) {
  Problem problem = single_row(2);
  for (std::size_t j = 0; j < 3; ++j) problem.value(j, 0, 0) = -0.0F;  // fma(w, -0, +0) = +0
  expect_result(problem, 0.0F);
}

TEST(Attention, TheExponentialIsWithinTheUlpsThatTheRuleStates) {
  long double worst = 0.0L;
  const auto check = [&](float f) {
    float e = kExponentialCoefficients[6];
    for (int i = 5; i >= 0; --i) e = std::fma(e, f, kExponentialCoefficients[i]);
    const long double exact = std::exp2(static_cast<long double>(f));
    const long double ulp = exact < 1.0L ? 0x1p-24L : 0x1p-23L;
    worst = std::max(worst, std::abs(static_cast<long double>(e) - exact) / ulp);
  };
  // Every 2^-25 of [-1/2, 1/2] that a difference t - n can be when abs(t) >= 1/2, and the subnormal end.
  for (int i = -(1 << 24); i <= (1 << 24); i += 7) check(static_cast<float>(i) * 0x1p-25F);
  for (float f = 0.5F; f > 0.0F; f *= 0.49F) {
    check(f);
    check(-f);
  }
  EXPECT_LE(worst, 0.875L);
  EXPECT_GT(worst, 0.5L) << "the measure itself must see the rounding";
}

// ---- accuracy and planted mistakes
// --------------------------------------------------------------------------------------

/// softmax(scale * q k) v in `Real`, plainly: the largest score is subtracted, one chain each.
template <class Real>
std::vector<double> plain_attention(Problem& problem) {
  const Shape& shape = problem.shape();
  std::vector<double> output;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const std::size_t end = shape.first_position + row + 1;
    const std::size_t begin = shape.window != 0 && end > shape.window ? end - shape.window : 0;
    for (std::size_t head = 0; head < shape.query_heads; ++head) {
      const std::size_t key_head = head * shape.key_value_heads / shape.query_heads;
      std::vector<Real> weight;
      for (std::size_t j = begin; j < end; ++j) {
        Real score = 0;
        for (std::size_t d = 0; d < shape.head_dim; ++d) {
          score += static_cast<Real>(problem.query(row, head, d)) * static_cast<Real>(problem.key(j, key_head, d));
        }
        weight.push_back(score * static_cast<Real>(1.0 / std::sqrt(static_cast<double>(shape.head_dim))));
      }
      const Real largest = *std::max_element(weight.begin(), weight.end());
      for (Real& w : weight) w = std::exp(w - largest);
      const Real total = std::accumulate(weight.begin(), weight.end(), Real{0});
      for (std::size_t d = 0; d < shape.head_dim; ++d) {
        Real sum = 0;
        for (std::size_t j = begin; j < end; ++j) {
          sum += weight[j - begin] / total * static_cast<Real>(problem.value(j, key_head, d));
        }
        output.push_back(static_cast<double>(sum));
      }
    }
  }
  return output;
}

template <class Computed>
double largest_error(const std::vector<double>& exact, const std::vector<Computed>& computed) {
  double worst = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    worst = std::max(worst, std::abs(exact[i] - static_cast<double>(computed[i])));
  }
  return worst;
}

TEST(Attention, TheErrorAgainstBinary64IsAtMostTwiceThatOfPlainBinary32) {
  for (const Shape& shape :
       {Shape{3, 700, 2, 1, 256, 0, 0.0F}, Shape{5, 400, 3, 3, 64, 200, 0.0F}, Shape{40, 0, 1, 1, 80, 0, 0.0F}}) {
    SCOPED_TRACE(::testing::Message() << shape);
    for (const float spread : {1.0F, 6.0F}) {
      const auto wide = [values = normal_values(7), spread]() mutable { return spread * values(); };
      Problem problem(shape, wide, normal_values(8), normal_values(9));
      const std::vector<double> exact = plain_attention<double>(problem);
      const double error_of_plain = largest_error(exact, plain_attention<float>(problem));
      EXPECT_LE(largest_error(exact, problem.reference()), 2.0 * error_of_plain);
    }
  }
}

TEST(Attention, ASecondImplementationAgreesAndEveryPlantedMistakeShows) {
  for (const float soft_cap : {0.0F, 20.0F}) {
    Problem problem({12, 380, 2, 1, 200, 150, soft_cap}, 1000);
    const std::vector<float> expected = problem.reference();
    EXPECT_TRUE(same_bits(expected, second_implementation(problem, Mistake::none)));
  }
  Problem problem({12, 380, 2, 1, 192, 290, 0.0F}, 1001);  // 192: scale * log2 e differs in binary32
  const std::vector<float> expected = problem.reference();
  ASSERT_TRUE(same_bits(expected, second_implementation(problem, Mistake::none)));
  for (const Mistake mistake :
       {Mistake::window_one_too_wide, Mistake::window_one_too_narrow, Mistake::sees_the_next_key,
        Mistake::folds_descending, Mistake::one_chain_for_the_score, Mistake::one_chain_for_the_denominator,
        Mistake::one_chunk_for_all_keys, Mistake::scale_in_binary32, Mistake::masked_keys_with_weight_zero,
        Mistake::normalises_each_chunk}) {
    EXPECT_FALSE(same_bits(expected, second_implementation(problem, mistake))) << static_cast<int>(mistake);
  }
}

TEST(Attention, AWindowWiderByOneShows) {
  Problem problem({12, 380, 2, 1, 16, 0, 0.0F}, 1002);  // every key exists
  Problem narrow = problem.with_window(200);
  Problem wide = problem.with_window(201);
  EXPECT_TRUE(same_bits(narrow.reference(), second_implementation(narrow, Mistake::none)));
  EXPECT_TRUE(same_bits(wide.reference(), second_implementation(narrow, Mistake::window_one_too_wide)));
  EXPECT_FALSE(same_bits(narrow.reference(), wide.reference()));
}

}  // namespace
}  // namespace lastbit::kernels
