// Arithmetic on sizes that come from a file: the result, or nothing when it does not fit in 64 bits.
#pragma once

#include <cstdint>
#include <optional>

namespace lastbit {

/// a + b, or nothing on overflow.
inline std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

/// a * b, or nothing on overflow.
inline std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

/// The smallest multiple of `alignment` (not 0) that is >= value, or nothing on overflow.
inline std::optional<std::uint64_t> checked_align_up(std::uint64_t value, std::uint64_t alignment) {
  const std::uint64_t remainder = value % alignment;
  return remainder == 0 ? std::optional<std::uint64_t>(value) : checked_add(value, alignment - remainder);
}

}  // namespace lastbit
