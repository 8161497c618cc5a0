#include "base/floating_point_state.hpp"

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace lastbit {
namespace {

#if defined(__x86_64__)
constexpr std::uint64_t kStickyFlags = 0x3F;
constexpr std::uint64_t kDefaultControl =
    0x1F80;  // all exceptions masked, nearest even, FTZ (0x8000) and DAZ (0x40) clear
std::uint64_t read_control() { return _mm_getcsr(); }
void write_control(std::uint64_t value) { _mm_setcsr(static_cast<unsigned>(value)); }
#elif defined(__aarch64__)
constexpr std::uint64_t kStickyFlags = 0;
constexpr std::uint64_t kDefaultControl = 0;  // nearest even, FZ, FZ16 and default-NaN clear
std::uint64_t read_control() {
  std::uint64_t value = 0;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
void write_control(std::uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value)); }
#else
#error "lastbit needs the floating-point control register of this processor: add its read and write here"
#endif

}  // namespace

FloatingPointScope::FloatingPointScope() : saved_rounding_(std::fegetround()), saved_control_(read_control()) {
  std::fesetround(FE_TONEAREST);
  write_control(kDefaultControl);
}

FloatingPointScope::~FloatingPointScope() {
  std::fesetround(saved_rounding_);
  write_control(saved_control_);
}

std::uint64_t floating_point_control() { return read_control() & ~kStickyFlags; }

}  // namespace lastbit
