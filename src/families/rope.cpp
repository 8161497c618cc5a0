#include "families/rope.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "base/quoted_text.hpp"
#include "kernels/rotary_embedding/rotary_embedding.hpp"

namespace lastbit::families {
namespace {

/// The factor of linear scaling, or nothing where the rope is not scaled.
std::optional<float> linear_factor(const ResolvedKeys& keys, AssemblyNotes& notes) {
  const bool has_factor = keys.has("rope.scaling.factor");
  const std::string type =
      keys.has("rope.scaling.type") ? keys.text("rope.scaling.type") : (has_factor ? "linear" : "none");
  if (!keys.has("rope.scaling.type")) {
    notes.decisions.push_back(
        {"rope.scaling.type", type,
         has_factor ? "family default where there is a factor" : "family default: not scaled (no rope.scaling key)"});
  }
  if (type == "none") return std::nullopt;
  if (type != "linear") {
    notes.problems.push_back(fmt::format("rope.scaling.type is {} (known: none, linear)", quoted_text(type)));
    return std::nullopt;
  }
  if (!has_factor) {
    notes.problems.push_back("rope.scaling.type is \"linear\", but rope.scaling.factor is missing");
    return std::nullopt;
  }
  const float factor = static_cast<float>(keys.number("rope.scaling.factor"));
  if (!std::isfinite(factor) || factor <= 0.0F) {
    notes.problems.push_back(fmt::format("rope.scaling.factor is {}: it must be positive and finite", factor));
    return std::nullopt;
  }
  return factor;
}

}  // namespace

blocks::RotaryTable rotary_table(const ResolvedKeys& keys, std::string_view base_key, std::size_t dimensions,
                                 bool scaled, AssemblyNotes& notes) {
  blocks::RotaryTable table;
  const float base = static_cast<float>(keys.number(base_key));
  if (!std::isfinite(base) || base < 1.0F) {
    notes.problems.push_back(fmt::format("{} is {}: it must be finite and at least 1", base_key, base));
    return table;
  }
  if (dimensions == 0 || dimensions % 2 != 0 || dimensions > kLargestHeadSize) {
    notes.problems.push_back(
        fmt::format("the head size is {}: rope needs an even size, at most {}", dimensions, kLargestHeadSize));
    return table;
  }
  table.inverse_frequency = kernels::rotary_inverse_frequencies(base, dimensions);
  if (!scaled) return table;
  if (const std::optional<float> factor = linear_factor(keys, notes)) {
    for (float& frequency : table.inverse_frequency) frequency = frequency / *factor;
  }
  return table;
}

}  // namespace lastbit::families
