#include "engine/precision_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

#include "base/error.hpp"

namespace lastbit::engine {
namespace {

constexpr std::string_view kForms = "highest, or activations=f32,matmul=f32,kv=f32";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

struct Field {
  std::string_view name;
  std::vector<std::string_view> later;  // values of later versions
  std::string PrecisionPolicy::*value;
};

const std::vector<Field>& fields_of_policy() {
  static const std::vector<Field> fields = {
      {"activations", {"bf16", "f16"}, &PrecisionPolicy::activations},
      {"matmul", {"int8", "tensor"}, &PrecisionPolicy::matmul},
      {"kv", {"f16", "bf16"}, &PrecisionPolicy::key_value_cache},
  };
  return fields;
}

void set_field(std::string_view assignment, std::string_view whole, std::set<std::string_view>& seen,
               PrecisionPolicy& policy) {
  const std::size_t equals = assignment.find('=');
  const std::string_view name = assignment.substr(0, equals);
  for (const Field& field : fields_of_policy()) {
    if (field.name != name || equals == std::string_view::npos) continue;
    const std::string_view value = assignment.substr(equals + 1);
    if (!seen.insert(field.name).second) throw_usage(fmt::format("precision \"{}\": {} is given twice", whole, name));
    if (std::find(field.later.begin(), field.later.end(), value) != field.later.end()) {
      throw_usage(fmt::format("precision \"{}\": {}={} comes in a later version (this one has {}=f32)", whole, name,
                              value, name));
    }
    if (value != "f32")
      throw_usage(fmt::format("precision \"{}\": the value \"{}\" of {} is unknown (known: f32)", whole, value, name));
    policy.*field.value = std::string(value);
    return;
  }
  throw_usage(fmt::format("precision \"{}\" is unknown (known: {})", whole, kForms));
}

PrecisionPolicy parse(std::string_view text, std::string reason) {
  PrecisionPolicy policy;
  policy.reason = std::move(reason);
  if (text == "highest") return policy;
  if (text == "int8") throw_usage("precision int8 comes in a later version (this one has highest)");
  std::set<std::string_view> seen;
  for (const std::string_view assignment : split(text, ',')) set_field(assignment, text, seen, policy);
  return policy;
}

}  // namespace

std::string PrecisionPolicy::fields() const {
  return fmt::format("activations={},matmul={},kv={}", activations, matmul, key_value_cache);
}

std::string PrecisionPolicy::name() const {
  const bool highest = activations == "f32" && matmul == "f32" && key_value_cache == "f32";
  return highest ? "highest" : fields();
}

PrecisionPolicy choose_precision(const std::optional<std::string>& flag) {
  if (flag) return parse(*flag, "--precision");
  if (const char* value = std::getenv("LASTBIT_PRECISION"); value != nullptr && *value != '\0')
    return parse(value, "LASTBIT_PRECISION");
  return parse("highest", "the only policy of this version");
}

}  // namespace lastbit::engine
