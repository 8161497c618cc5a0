// Proves the elementary functions of rule A1 on all 2^32 binary32 inputs (or on a stride or range of them):
//
//   elementary_exhaustive [--function NAME] [--set NAME] [--stride N] [--begin BITS] [--end BITS] [--threads N]
//                         [--hard-cases FILE]
//
// Without --function: all eight. Without --set: the strongest real instruction set; other tables by name ("scalar",
// "avx2", "emulated_avx512", ...). Inputs are the encodings BITS with begin <= BITS < end, every N-th. The expected
// value comes from elementary_oracle.hpp, which shares no code with the functions. Prints one line a function; exit
// code 1 if any value differs.
// --hard-cases writes the inputs that binary64 can hardly round (oracle::hard_to_round), one "name bits" a line,
// sorted.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/floating_point_state.hpp"
#include "numerics/elementary/elementary_oracle.hpp"

namespace {

using namespace lastbit::numerics;

struct Options {
  std::string function;
  std::string set;
  std::uint64_t stride = 1;
  std::uint64_t begin = 0;
  std::uint64_t end = std::uint64_t{1} << 32;
  unsigned threads = std::thread::hardware_concurrency();
  std::string hard_cases;  // path, or empty
};

struct Totals {
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> checked{0};
  std::atomic<std::uint64_t> asked_mpfr{0};
  std::atomic<std::uint64_t> mismatches{0};
  std::mutex mutex;
  std::vector<std::uint32_t> hard_cases;
};

std::uint32_t bits_of(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

void report(const oracle::FunctionUnderTest& function, float x, float expected, float actual) {
  std::printf("%s(%a) [%08x]: expected %a (%08x), got %a (%08x)\n", function.name, static_cast<double>(x), bits_of(x),
              static_cast<double>(expected), bits_of(expected), static_cast<double>(actual), bits_of(actual));
}

constexpr std::uint64_t kBlock = 1 << 16;
constexpr std::uint64_t kReported = 20;

void collect_hard_cases(const oracle::FunctionUnderTest& function, const float* x, std::uint64_t count,
                        Totals& totals) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!oracle::hard_to_round(function, x[i])) continue;
    const std::lock_guard<std::mutex> lock(totals.mutex);
    totals.hard_cases.push_back(bits_of(x[i]));
  }
}

void write_hard_cases(const oracle::FunctionUnderTest& function, std::vector<std::uint32_t>& inputs,
                      const std::string& path) {
  std::sort(inputs.begin(), inputs.end());
  std::ofstream file(path, std::ios::app);
  for (const std::uint32_t bits : inputs) {
    char line[32];
    std::snprintf(line, sizeof line, "%s %08x\n", function.name, bits);
    file << line;
  }
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

void check_blocks(const oracle::FunctionUnderTest& function, const ElementaryKernels& kernels, const Options& options,
                  Totals& totals) {
  const lastbit::FloatingPointScope floating_point;
  oracle::prepare_thread();
  const std::uint64_t inputs = (options.end - options.begin + options.stride - 1) / options.stride;
  std::vector<float> x(kBlock);
  std::vector<float> y(kBlock);
  for (std::uint64_t first = totals.next.fetch_add(kBlock); first < inputs; first = totals.next.fetch_add(kBlock)) {
    const std::uint64_t count = std::min(kBlock, inputs - first);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto bits = static_cast<std::uint32_t>(options.begin + (first + i) * options.stride);
      std::memcpy(&x[i], &bits, sizeof bits);
    }
    (kernels.*function.member)(x.data(), count, y.data());
    unsigned long long asked = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const float expected = oracle::correctly_rounded(function, x[i], asked);
      if (bits_of(expected) == bits_of(y[i])) continue;
      if (totals.mismatches.fetch_add(1) < kReported) report(function, x[i], expected, y[i]);
    }
    if (!options.hard_cases.empty()) collect_hard_cases(function, x.data(), count, totals);
    totals.checked += count;
    totals.asked_mpfr += asked;
  }
}

bool check(const oracle::FunctionUnderTest& function, const oracle::KernelSet& set, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  Totals totals;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < options.threads; ++i) {
    threads.emplace_back([&] { check_blocks(function, *set.kernels, options, totals); });
  }
  for (std::thread& thread : threads) thread.join();
  if (!options.hard_cases.empty()) write_hard_cases(function, totals.hard_cases, options.hard_cases);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%s, %s: %llu inputs (stride %llu), %llu decided by MPFR, %llu wrong, %.0f s\n", function.name,
              set.name.c_str(), static_cast<unsigned long long>(totals.checked),
              static_cast<unsigned long long>(options.stride), static_cast<unsigned long long>(totals.asked_mpfr),
              static_cast<unsigned long long>(totals.mismatches), seconds.count());
  std::fflush(stdout);
  return totals.mismatches == 0 && totals.checked > 0;
}

std::uint64_t number(const char* text) {
  std::size_t used = 0;
  const std::uint64_t value = std::stoull(text, &used, 0);
  if (text[used] != '\0') throw std::invalid_argument(text);
  return value;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string flag = argv[i];
    if (i + 1 == argc) throw std::invalid_argument(flag + " needs a value");
    const char* value = argv[i + 1];
    if (flag == "--function")
      options.function = value;
    else if (flag == "--set")
      options.set = value;
    else if (flag == "--stride")
      options.stride = number(value);
    else if (flag == "--begin")
      options.begin = number(value);
    else if (flag == "--end")
      options.end = number(value);
    else if (flag == "--hard-cases")
      options.hard_cases = value;
    else if (flag == "--threads")
      options.threads = static_cast<unsigned>(number(value));
    else
      throw std::invalid_argument("unknown flag " + flag);
  }
  const bool sound =
      options.stride > 0 && options.begin < options.end && options.end <= std::uint64_t{1} << 32 && options.threads > 0;
  if (!sound) throw std::invalid_argument("an empty range, or one beyond 2^32, or no thread");
  return options;
}

oracle::KernelSet choose_set(const std::string& name) {
  oracle::KernelSet chosen{"", nullptr};
  for (const oracle::KernelSet& set : oracle::runnable_sets()) {
    const bool real = set.name.rfind("emulated_", 0) != 0;
    if (name.empty() ? real : set.name == name) chosen = set;  // the sets stand weakest first
  }
  if (chosen.kernels == nullptr) throw std::invalid_argument("set " + name + " cannot run here");
  return chosen;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    const oracle::KernelSet set = choose_set(options.set);
    bool right = true;
    bool found = false;
    for (const oracle::FunctionUnderTest& function : oracle::functions()) {
      if (!options.function.empty() && options.function != function.name) continue;
      found = true;
      right = check(function, set, options) && right;
    }
    if (!found) throw std::invalid_argument("unknown function " + options.function);
    return right ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "elementary_exhaustive: %s\n", error.what());
    return 2;
  }
}
