// Runs a libFuzzer target without libFuzzer: mutates the files of a corpus, deterministically, for a number of
// iterations or seconds. Any compiler can build it, every run of one seed does the same, and CTest can bound it.
//
//   gguf_fuzzer [--iterations N] [--seconds S] [--seed N] [--first N] [--largest BYTES] [--save FILE] FILE_OR_FOLDER...
//   gguf_fuzzer --run FILE...                     the files as they are, without mutation
//
// Iteration i depends on (seed, i) and the corpus alone. On a failure the input is written to FILE (--save, by default
// fuzz-failure.bin) and the command that repeats the iteration is printed.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

using Bytes = std::vector<std::uint8_t>;

struct Options {
  std::uint64_t iterations = UINT64_MAX;
  double seconds = 60;
  std::uint64_t seed = 1;
  std::uint64_t first = 0;
  std::uint64_t largest = 1 << 20;
  std::string save = "fuzz-failure.bin";
  bool run_only = false;
  std::vector<std::string> paths;
};

// What the handlers of failures need; nothing there may allocate.
struct CurrentInput {
  const Bytes* bytes = nullptr;
  bool mutated = false;  // or a file of the corpus as it is
  std::uint64_t seed = 0;
  std::uint64_t iteration = 0;
  const char* save = "";
} current;

/// Writes all bytes, as far as the file takes them; returns how many.
std::size_t write_bytes(int file, const void* data, std::size_t size) {
  std::size_t written = 0;
  while (written < size) {
    const ssize_t count = ::write(file, static_cast<const char*>(data) + written, size - written);
    if (count <= 0) break;
    written += static_cast<std::size_t>(count);
  }
  return written;
}

void save_current_input() {
  if (current.bytes == nullptr) return;
  const int file = ::open(current.save, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const std::size_t written = file < 0 ? 0 : write_bytes(file, current.bytes->data(), current.bytes->size());
  if (file >= 0) ::close(file);
  char message[512];
  std::snprintf(message, sizeof message, "\nFAILED: %zu of %zu bytes of the input saved to %s, repeat with --run %s\n",
                written, current.bytes->size(), current.save, current.save);
  write_bytes(2, message, std::strlen(message));
  if (current.mutated) {
    std::snprintf(message, sizeof message, "or with the same corpus and --seed %llu --first %llu --iterations 1\n",
                  static_cast<unsigned long long>(current.seed), static_cast<unsigned long long>(current.iteration));
    write_bytes(2, message, std::strlen(message));
  }
  current.bytes = nullptr;  // once is enough: a sanitizer's report is followed by a signal
}

void on_signal(int signal) {
  save_current_input();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void install_failure_handlers() {
  if (&__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(save_current_input);
  std::signal(SIGABRT, on_signal);                         // std::abort, std::terminate
  std::signal(SIGALRM, on_signal);                         // an input that takes too long
  if (&__sanitizer_set_death_callback != nullptr) return;  // the sanitizer reports these itself, with a stack
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, on_signal);
}

void run_input(const Bytes& input) {
  constexpr unsigned slowest_seconds = 30;  // an input of some 100 KB takes well under a millisecond
  current.bytes = &input;
  ::alarm(slowest_seconds);
  try {
    LLVMFuzzerTestOneInput(input.data(), input.size());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "uncaught exception: %s\n", error.what());
    std::abort();
  }
  ::alarm(0);
  current.bytes = nullptr;
}

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers everywhere, unlike the distributions of <random>.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// In [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

/// A place in the input, more often near its start, where headers are.
std::size_t place_in(const Bytes& input, Random& random) {
  const std::size_t range = std::max<std::size_t>(1, input.size() >> random.below(12));
  return random.below(range);
}

std::uint64_t extreme_number(Random& random) {
  const std::uint64_t power = std::uint64_t{1} << random.below(64);
  switch (random.below(5)) {
    case 0:
      return power;
    case 1:
      return power - 1;
    case 2:
      return 0 - power;
    case 3:
      return random.below(40);
    default:
      return random.next();
  }
}

void overwrite_number(Bytes& input, Random& random) {
  const std::uint64_t value = extreme_number(random);
  const std::size_t size = std::size_t{1} << random.below(4);
  const std::size_t place = place_in(input, random);
  for (std::size_t i = 0; i < size && place + i < input.size(); ++i) {
    input[place + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

void copy_range(Bytes& input, const Bytes& source, Random& random, bool insert) {
  const std::size_t from = place_in(source, random);
  const std::size_t length = std::min<std::size_t>(source.size() - from, 1 + random.below(256));
  const std::size_t place = place_in(input, random);
  const Bytes range(source.begin() + static_cast<std::ptrdiff_t>(from),
                    source.begin() + static_cast<std::ptrdiff_t>(from + length));
  if (insert) {
    input.insert(input.begin() + static_cast<std::ptrdiff_t>(place), range.begin(), range.end());
  } else {
    std::copy_n(range.begin(), std::min(length, input.size() - place),
                input.begin() + static_cast<std::ptrdiff_t>(place));
  }
}

void mutate_once(Bytes& input, const Bytes& other, Random& random) {
  if (input.empty()) input.push_back(0);
  const std::size_t place = place_in(input, random);
  switch (random.below(8)) {
    case 0:
      input[place] ^= static_cast<std::uint8_t>(1u << random.below(8));
      break;
    case 1:
      input[place] = static_cast<std::uint8_t>(random.next());
      break;
    case 2:
    case 3:
      overwrite_number(input, random);
      break;
    case 4: {
      const std::size_t length = std::min<std::size_t>(input.size() - place, 1 + random.below(64));
      input.erase(input.begin() + static_cast<std::ptrdiff_t>(place),
                  input.begin() + static_cast<std::ptrdiff_t>(place + length));
      break;
    }
    case 5:
      copy_range(input, input, random, random.below(2) == 0);
      break;
    case 6:
      copy_range(input, other, random, random.below(2) == 0);
      break;
    default:
      if (random.below(4) == 0) input.resize(place);
      break;
  }
}

Bytes mutated(const std::vector<Bytes>& corpus, const Options& options, std::uint64_t iteration) {
  Random random(Random(options.seed).next() ^ iteration * 0xD1342543DE82EF95u);
  Bytes input = corpus[random.below(corpus.size())];
  const Bytes& other = corpus[random.below(corpus.size())];
  for (std::uint64_t count = 1 + random.below(4); count > 0; --count) mutate_once(input, other, random);
  if (input.size() > options.largest) input.resize(options.largest);
  return input;
}

Bytes read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

/// The files of the corpus that are not too large, in the order of their names.
std::vector<Bytes> read_corpus(const Options& options) {
  std::vector<std::filesystem::path> files;
  for (const std::string& path : options.paths) {
    if (!std::filesystem::is_directory(path)) {
      files.emplace_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<Bytes> corpus;
  for (const auto& file : files) {
    if (!options.run_only && std::filesystem::file_size(file) > options.largest) continue;
    corpus.push_back(read_bytes(file));
  }
  return corpus;
}

std::optional<Options> parse_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    if (name == "--run") {
      options.run_only = true;
    } else if (!name.starts_with("--")) {
      options.paths.emplace_back(name);
    } else {
      if (++i == count) return std::nullopt;
      const char* value = arguments[i];
      char* end = nullptr;
      if (name == "--iterations")
        options.iterations = std::strtoull(value, &end, 10);
      else if (name == "--seconds")
        options.seconds = std::strtod(value, &end);
      else if (name == "--seed")
        options.seed = std::strtoull(value, &end, 10);
      else if (name == "--first")
        options.first = std::strtoull(value, &end, 10);
      else if (name == "--largest")
        options.largest = std::strtoull(value, &end, 10);
      else if (name == "--save")
        options.save = value;
      else
        return std::nullopt;
      if (end != nullptr && (end == value || *end != '\0')) return std::nullopt;
    }
  }
  if (options.paths.empty()) return std::nullopt;
  return options;
}

}  // namespace

int main(int count, char** arguments) {
  const auto options = parse_options(count, arguments);
  if (!options) {
    std::fprintf(stderr,
                 "usage: %s [--iterations N] [--seconds S] [--seed N] [--first N] [--largest BYTES] [--save FILE] "
                 "[--run] FILE_OR_FOLDER...\n",
                 arguments[0]);
    return 2;
  }
  const std::vector<Bytes> corpus = read_corpus(*options);
  if (corpus.empty()) {
    std::fprintf(stderr, "the corpus holds no file of at most %llu bytes\n",
                 static_cast<unsigned long long>(options->largest));
    return 2;
  }
  current.seed = options->seed;
  current.save = options->save.c_str();
  install_failure_handlers();
  for (const Bytes& input : corpus) run_input(input);

  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  std::uint64_t done = 0;
  current.mutated = true;
  while (!options->run_only && done < options->iterations && elapsed() < options->seconds) {
    current.iteration = options->first + done;
    run_input(mutated(corpus, *options, current.iteration));
    ++done;
  }
  std::printf("%zu files as they are, %llu mutated inputs in %.1f s, seed %llu: no failure\n", corpus.size(),
              static_cast<unsigned long long>(done), elapsed(), static_cast<unsigned long long>(options->seed));
  return 0;
}
