// How the work of one pass is cut: blocks of queries that share a key-value head, or, where there are too few of them
// for the pool (decode), single pages whose results are folded afterwards. Rule A6 makes the bits independent of the
// cut.
#include "kernels/attention/attention.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "base/thread_pool.hpp"

namespace lastbit::kernels {
namespace {

constexpr std::size_t kLine = 16;  // elements of a cache line
constexpr float kNothingYet = -std::numeric_limits<float>::infinity();

// A task reads each page once from outer caches and then uses it for several blocks from the L2 cache, which also holds
// the sums of the task's queries: 112 KiB beside a page of 256 KiB for heads of 256.
constexpr std::size_t kMostQueriesPerTask = 112;
// Dynamic scheduling evens out tasks of different cost (later rows see more keys) when there are some per thread.
constexpr std::size_t kTasksPerThread = 4;
// The memory for results by page is bounded (64 MiB); beyond it whole blocks keep fewer threads busy instead.
constexpr std::size_t kMostPageResults = std::size_t{1} << 24;

// Keys and values that a pass must read before it is worth waking threads twice: about 150 microseconds of one thread.
constexpr std::size_t kFewestElementsToSplit = std::size_t{1} << 20;

std::size_t round_up(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// Uninitialised memory from a cache line's start on. One allocation a pass costs nothing beside its reads.
class Scratch {
 public:
  explicit Scratch(std::size_t size) : memory_(std::make_unique_for_overwrite<float[]>(size + kLine)) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.get()) / sizeof(float);
    first_ = memory_.get() + (kLine - address % kLine) % kLine;
  }
  float* data() const { return first_; }

 private:
  std::unique_ptr<float[]> memory_;
  float* first_;
};

/// What the arguments say, in terms of queries: the (row, head) pairs of one key-value head, heads fastest.
class Pass {
 public:
  Pass(const AttentionKernels& kernels, const AttentionArguments& arguments)
      : kernels_(kernels),
        arguments_(arguments),
        logit_(attention_logit(arguments)),
        heads_per_key_(arguments.query_heads / arguments.key_value_heads) {}

  const AttentionKernels& kernels() const { return kernels_; }
  std::size_t heads() const { return arguments_.key_value_heads; }
  std::size_t head_dim() const { return arguments_.head_dim; }
  std::size_t queries() const { return arguments_.rows * heads_per_key_; }
  std::size_t sum_stride() const { return round_up(arguments_.head_dim, kAttentionPadding); }

  /// The keys that a query sees, by index in the sequence: [first_key, end_key).
  std::size_t end_key(std::size_t query) const { return arguments_.first_position + query / heads_per_key_ + 1; }
  std::size_t first_key(std::size_t query) const {
    const std::size_t end = end_key(query);
    return arguments_.window != 0 && end > arguments_.window ? end - arguments_.window : 0;
  }

  /// The pages that the queries [begin, end) see: [first_page, end_page).
  std::size_t first_page(std::size_t begin) const { return first_key(begin) / kPagePositions; }
  std::size_t end_page(std::size_t end) const { return (end_key(end - 1) - 1) / kPagePositions + 1; }

  const float* query(std::size_t head, std::size_t query) const {
    return arguments_.query + query / heads_per_key_ * arguments_.query_stride + element(head, query);
  }
  float* output(std::size_t head, std::size_t query) const {
    return arguments_.output + query / heads_per_key_ * arguments_.output_stride + element(head, query);
  }

  /// The chunk of that head and page, without queries.
  AttentionChunk chunk(std::size_t head, std::size_t page) const {
    AttentionChunk result;
    result.keys = arguments_.key_pages[page] + head * arguments_.head_dim * kPagePositions;
    result.values = arguments_.value_pages[page] + head * kPagePositions * arguments_.head_dim;
    result.head_dim = arguments_.head_dim;
    result.logit = logit_;
    result.sum_stride = sum_stride();
    return result;
  }

 private:
  std::size_t element(std::size_t head, std::size_t query) const {
    return (head * heads_per_key_ + query % heads_per_key_) * arguments_.head_dim;
  }

  const AttentionKernels& kernels_;
  const AttentionArguments& arguments_;
  AttentionLogit logit_;
  std::size_t heads_per_key_;
};

/// Results of a number of queries for one page, or folded so far.
struct Results {
  float* sum;
  float* denominator;
  float* reference;

  static std::size_t size(std::size_t queries, std::size_t sum_stride) {
    return round_up(queries * (sum_stride + 2), kLine);
  }
  static Results at(float* memory, std::size_t queries, std::size_t sum_stride) {
    float* const denominators = memory + queries * sum_stride;
    return {memory, denominators, denominators + queries};
  }
  Results from(std::size_t query, std::size_t sum_stride) const {
    return {sum + query * sum_stride, denominator + query, reference + query};
  }
};

/// Computes a page for the queries [begin, end) of a head, at most kernels.block_queries; result i is of query begin +
/// i. Queries that do not see the page get the reference of a skipped chunk.
void attend_page(const Pass& pass, std::size_t head, std::size_t page, std::size_t begin, std::size_t end,
                 const Results& results, float* scratch) {
  const float* query[kMostBlockQueries];
  std::size_t first_visible[kMostBlockQueries];
  std::size_t end_visible[kMostBlockQueries];
  const std::size_t page_start = page * kPagePositions;
  std::size_t first_seeing = end;  // both bounds ascend with the query: those that see the page are contiguous
  std::size_t count = 0;
  for (std::size_t i = begin; i < end; ++i) {
    results.reference[i - begin] = kNothingYet;
    const std::size_t first = std::max(pass.first_key(i), page_start);
    const std::size_t last = std::min(pass.end_key(i), page_start + kPagePositions);
    if (first >= last) continue;
    first_seeing = std::min(first_seeing, i);
    query[count] = pass.query(head, i);
    first_visible[count] = first - page_start;
    end_visible[count] = last - page_start;
    ++count;
  }
  if (count == 0) return;
  const Results seeing = results.from(first_seeing - begin, pass.sum_stride());
  AttentionChunk chunk = pass.chunk(head, page);
  chunk.queries = count;
  chunk.query = query;
  chunk.begin = first_visible;
  chunk.end = end_visible;
  chunk.sum = seeing.sum;
  chunk.denominator = seeing.denominator;
  chunk.reference = seeing.reference;
  chunk.scratch = scratch;
  pass.kernels().chunk(chunk);
}

void fold_page(const Pass& pass, std::size_t queries, const Results& so_far, const Results& page) {
  const std::size_t stride = pass.sum_stride();
  for (std::size_t i = 0; i < queries; ++i) {
    pass.kernels().fold(so_far.sum + i * stride, so_far.denominator + i, so_far.reference + i, page.sum + i * stride,
                        page.denominator[i], page.reference[i], pass.head_dim());
  }
}

void finish(const Pass& pass, std::size_t head, std::size_t begin, std::size_t end, const Results& results) {
  for (std::size_t i = begin; i < end; ++i) {
    const Results one = results.from(i - begin, pass.sum_stride());
    pass.kernels().finish(one.sum, *one.denominator, *one.reference, pass.head_dim(), pass.output(head, i));
  }
}

/// Tasks are (several blocks of queries, head); each folds its pages as it goes.
void attend_by_blocks(const Pass& pass, std::size_t blocks_per_task, ThreadPool& pool) {
  const std::size_t block = pass.kernels().block_queries;
  const std::size_t task_queries = blocks_per_task * block;
  const std::size_t stride = pass.sum_stride();
  const std::size_t page_size = Results::size(block, stride);
  const std::size_t worker_size =
      round_up(kAttentionScratchSize + page_size + Results::size(task_queries, stride), kLine);
  const Scratch memory(worker_size * static_cast<std::size_t>(pool.threads()));

  const std::size_t tasks_per_head = (pass.queries() + task_queries - 1) / task_queries;
  pool.run(tasks_per_head * pass.heads(), [&](std::size_t task, int worker) {
    const std::size_t head = task % pass.heads();
    const std::size_t begin = (tasks_per_head - 1 - task / pass.heads()) * task_queries;  // the longest first
    const std::size_t end = std::min(begin + task_queries, pass.queries());
    float* const scratch = memory.data() + static_cast<std::size_t>(worker) * worker_size;
    const Results page_results = Results::at(scratch + kAttentionScratchSize, block, stride);
    const Results results = Results::at(scratch + kAttentionScratchSize + page_size, task_queries, stride);
    std::fill_n(results.reference, end - begin, kNothingYet);
    for (std::size_t page = pass.first_page(begin); page < pass.end_page(end); ++page) {
      for (std::size_t i = begin; i < end; i += block) {
        const std::size_t block_end = std::min(i + block, end);
        attend_page(pass, head, page, i, block_end, page_results, scratch);
        fold_page(pass, block_end - i, results.from(i - begin, stride), page_results);
      }
    }
    finish(pass, head, begin, end, results);
  });
}

/// Tasks are (page, block of queries, head); a second step folds the pages of each query.
void attend_by_pages(const Pass& pass, ThreadPool& pool) {
  const std::size_t block = pass.kernels().block_queries;
  const std::size_t queries = pass.queries();
  const std::size_t stride = pass.sum_stride();
  const std::size_t first_page = pass.first_page(0);
  const std::size_t pages = pass.end_page(queries) - first_page;
  const std::size_t blocks = (queries + block - 1) / block;
  const std::size_t page_size = Results::size(queries, stride);
  const std::size_t results_size = round_up(pass.heads() * (pages + 1) * page_size, kLine);
  const Scratch memory(results_size + kAttentionScratchSize * static_cast<std::size_t>(pool.threads()));
  const auto results_of = [&](std::size_t head, std::size_t slot) {  // slot `pages`: folded
    return Results::at(memory.data() + (head * (pages + 1) + slot) * page_size, queries, stride);
  };

  pool.run(pass.heads() * pages * blocks, [&](std::size_t task, int worker) {
    const std::size_t begin = task % blocks * block;
    const std::size_t page = task / blocks % pages;
    const std::size_t head = task / blocks / pages;
    attend_page(pass, head, first_page + page, begin, std::min(begin + block, queries),
                results_of(head, page).from(begin, stride),
                memory.data() + results_size + static_cast<std::size_t>(worker) * kAttentionScratchSize);
  });
  pool.run(pass.heads() * queries, [&](std::size_t task, int) {
    const std::size_t head = task / queries;
    const std::size_t query = task % queries;
    const Results folded = results_of(head, pages).from(query, stride);
    *folded.reference = kNothingYet;
    for (std::size_t page = 0; page < pages; ++page) {
      fold_page(pass, 1, folded, results_of(head, page).from(query, stride));
    }
    finish(pass, head, query, query + 1, folded);
  });
}

}  // namespace

AttentionLogit attention_logit(const AttentionArguments& arguments) {
  return {static_cast<float>(arguments.scale * 0x1.71547652b82fep+0), static_cast<float>(arguments.scale),
          arguments.soft_cap};
}

void attention(const AttentionKernels& kernels, const AttentionArguments& arguments, ThreadPool& pool) {
  if (arguments.rows == 0) return;
  const Pass pass(kernels, arguments);
  const std::size_t block = kernels.block_queries;
  const std::size_t blocks = (pass.queries() + block - 1) / block * pass.heads();
  const std::size_t threads = static_cast<std::size_t>(pool.threads());
  const std::size_t pages = pass.end_page(pass.queries()) - pass.first_page(0);
  const std::size_t page_results = pass.heads() * (pages + 1) * Results::size(pass.queries(), pass.sum_stride());
  const std::size_t elements = pass.heads() * pages * 2 * kPagePositions * pass.head_dim();
  const bool few_blocks = blocks < 2 * threads && threads > 1;
  if (few_blocks && pages > 1 && elements >= kFewestElementsToSplit && page_results <= kMostPageResults) {
    attend_by_pages(pass, pool);
  } else {
    const std::size_t most = std::max<std::size_t>(kMostQueriesPerTask / block, 1);
    attend_by_blocks(pass, std::clamp<std::size_t>(blocks / (kTasksPerThread * threads), 1, most), pool);
  }
}

}  // namespace lastbit::kernels
