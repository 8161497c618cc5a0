// Instruction sets: the names, what this machine grants, and which one is active.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lastbit::cpu {

/// The sets of isa.def, weakest first. scalar is the plain reference code.
enum class Isa {
  scalar,
#define LASTBIT_VECTOR_ISA(name, features, flags) name,
#include "cpu/isa.def"
#undef LASTBIT_VECTOR_ISA
};

/// Every set of this build, weakest first.
const std::vector<Isa>& all_isas();

std::string_view isa_name(Isa isa);

/// What the set asks of the processor and the operating system, in words.
std::string_view isa_features(Isa isa);

/// Whether the processor has the instructions and the operating system saves their registers.
bool isa_supported(Isa isa);

/// The set of that name. Unknown names, sets of later versions and sets that this machine lacks are ErrorKind::usage.
Isa require_isa(std::string_view name);

/// LASTBIT_ISA when it is set (ErrorKind::usage when it cannot be had), else the strongest supported set.
Isa active_isa();

/// The processor's own name, e.g. "Intel(R) Xeon(R) Processor".
std::string processor_name();

}  // namespace lastbit::cpu
