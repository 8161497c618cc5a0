#include "cpu/isa.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "base/error.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace lastbit::cpu {
namespace {

struct Entry {
  Isa isa;
  std::string_view name;
  std::string_view features;
};

constexpr Entry kEntries[] = {
    {Isa::scalar, "scalar", "nothing beyond the baseline"},
#define LASTBIT_VECTOR_ISA(name, features, flags) {Isa::name, #name, features},
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA
};

// Names of later versions (docs/ROADMAP.md): refused by name, not as a typing mistake.
constexpr std::string_view kLaterNames[] = {"avxvnni", "avx512vnni", "amx", "neon"};

const Entry& entry(Isa isa) { return kEntries[static_cast<std::size_t>(isa)]; }

#if defined(__x86_64__)
struct Processor {
  bool avx2 = false;
  bool avx512 = false;
};

constexpr bool bit(unsigned value, int position) { return ((value >> position) & 1U) != 0; }

std::uint64_t enabled_register_state() {
  unsigned low = 0;
  unsigned high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<std::uint64_t>(high) << 32) | low;
}

/// CPUID says what the processor has; XCR0 says which registers the operating system saves on a context switch.
Processor detect_processor() {
  Processor result;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return result;
  const bool fma = bit(c, 12);
  const bool osxsave = bit(c, 27);
  const bool f16c = bit(c, 29);
  if (!osxsave || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return result;
  const std::uint64_t state = enabled_register_state();
  constexpr std::uint64_t kAvxState = 0x6;
  constexpr std::uint64_t kAvx512State = 0xE6;
  result.avx2 = fma && f16c && bit(b, 5) && (state & kAvxState) == kAvxState;
  // AVX512F, DQ, CD, BW, VL
  result.avx512 = result.avx2 && bit(b, 16) && bit(b, 17) && bit(b, 28) && bit(b, 30) && bit(b, 31) &&
                  (state & kAvx512State) == kAvx512State;
  return result;
}

const Processor& processor() {
  static const Processor value = detect_processor();
  return value;
}
#endif

}  // namespace

const std::vector<Isa>& all_isas() {
  static const std::vector<Isa> isas = [] {
    std::vector<Isa> result;
    for (const Entry& known : kEntries) result.push_back(known.isa);
    return result;
  }();
  return isas;
}

std::string_view isa_name(Isa isa) { return entry(isa).name; }

std::string_view isa_features(Isa isa) { return entry(isa).features; }

bool isa_supported(Isa isa) {
  switch (isa) {
    case Isa::scalar:
      return true;
#if defined(__x86_64__)
    case Isa::avx2:
      return processor().avx2;
    case Isa::avx512:
      return processor().avx512;
#else
    default:
      return false;
#endif
  }
  return false;
}

Isa require_isa(std::string_view name) {
  std::string known;
  for (const Entry& candidate : kEntries) {
    if (candidate.name == name) {
      if (isa_supported(candidate.isa)) return candidate.isa;
      throw_usage(fmt::format("instruction set {}: this machine lacks it (it needs {})", name, candidate.features));
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", candidate.name);
  }
  for (const std::string_view later : kLaterNames) {
    if (later == name)
      throw_usage(fmt::format("instruction set {}: this version has no code for it (it has {})", name, known));
  }
  throw_usage(fmt::format("instruction set \"{}\" is unknown (known: {})", name, known));
}

Isa active_isa() {
  if (const char* forced = std::getenv("LASTBIT_ISA"); forced != nullptr && *forced != '\0') return require_isa(forced);
  Isa best = Isa::scalar;
  for (const Isa isa : all_isas()) {
    if (isa_supported(isa)) best = isa;
  }
  return best;
}

std::string processor_name() {
  std::ifstream information("/proc/cpuinfo");
  std::string line;
  while (std::getline(information, line)) {
    if (line.rfind("model name", 0) == 0) {
      if (const auto colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

}  // namespace lastbit::cpu
