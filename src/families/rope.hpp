// Rotary tables from a family's rope keys (rule A7).
#pragma once

#include <cstddef>
#include <string_view>

#include "families/family.hpp"

namespace lastbit::families {

/// The table of the base under `base_key`. With `scaled`, the keys rope.scaling.type ("none", "linear") and
/// rope.scaling.factor apply: linear divides each inverse frequency by the factor, rounded to binary32. Problems go to
/// the notes.
blocks::RotaryTable rotary_table(const ResolvedKeys& keys, std::string_view base_key, std::size_t dimensions,
                                 bool scaled, AssemblyNotes& notes);

}  // namespace lastbit::families
