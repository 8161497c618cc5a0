#include "families/family.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace lastbit::families {

#define LASTBIT_FAMILY(name) extern const Family name;
#include "families/families.def"
#undef LASTBIT_FAMILY

namespace {

const Family* const kFamilies[] = {
#define LASTBIT_FAMILY(name) &name,
#include "families/families.def"
#undef LASTBIT_FAMILY
};

}  // namespace

const ResolvedKeys::Value& ResolvedKeys::value(std::string_view key) const {
  const auto found = values_.find(std::string(key));
  if (found == values_.end()) throw std::logic_error(fmt::format("family declaration: key {} is not resolved", key));
  return found->second;
}

std::uint64_t ResolvedKeys::integer(std::string_view key) const { return std::get<std::uint64_t>(value(key)); }
double ResolvedKeys::number(std::string_view key) const { return std::get<double>(value(key)); }
const std::string& ResolvedKeys::text(std::string_view key) const { return std::get<std::string>(value(key)); }

const Family* find_family(std::string_view architecture) {
  for (const Family* family : kFamilies) {
    if (family->architecture == architecture) return family;
  }
  return nullptr;
}

std::string known_architectures() {
  std::string names;
  for (const Family* family : kFamilies) {
    if (!names.empty()) names += ", ";
    names += family->architecture;
  }
  return names;
}

}  // namespace lastbit::families
