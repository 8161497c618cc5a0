#!/usr/bin/env python3
"""Proves on the commands of a build that no flag changes the arithmetic, and that the baseline is compiled as such.

    scripts/check_compile_flags.py BUILD      reads BUILD/compile_commands.json and BUILD/build.ninja (link flags)

  * Flags that let a compiler change values (-ffast-math and its parts, -Ofast, contraction) are refused; so are they in
    link commands, where GCC would add start-up code that turns subnormals off in the whole process.
  * Every C++ command ends with contraction off: -ffp-contract=off, and nothing later that switches it on.
  * Flags of an instruction set stand only in the commands of the targets of that set (src/cpu/isa.def); -march=native,
    which would give another program on every machine, in none.

Exit codes: 0 proven, 1 a violation (each named with its file), 2 wrong usage or nothing to read.
"""

import argparse
import json
import pathlib
import re
import shlex
import sys

# What each would change: order of operations, signs of zeros, NaN and Inf, subnormals, rounding, widths.
VALUE_CHANGING = re.compile(
    r"""^-(
      Ofast | ffast-math | fassociative-math | freciprocal-math | ffinite-math-only | fno-signed-zeros
    | funsafe-math-optimizations | fapprox-func | fno-honor-(nans|infinities) | fcx-(limited-range|fortran-rules)
    | ffp-contract=(fast|on|fast-honor-pragmas) | ffp-model=(fast|aggressive) | fsingle-precision-constant
    | fdenormal-fp-math.* | fexcess-precision=fast | mfpmath=387 | mrecip.* | mdaz-ftz | mpc(32|64)
    | march=native | mcpu=native )$""",
    re.VERBOSE,
)
ISA_LINE = re.compile(r'^LASTBIT_VECTOR_ISA\((\w+), "[^"]*", "([^"]*)"\)')
MACHINE_FLAG = re.compile(r"^-m(?!tune=)\w")  # -mavx2, -mfma, -march=...: what may be executed
BASELINE = {"-march=x86-64-v2"}
HARMLESS_MACHINE_FLAGS = {"-m64"}


def isa_flags(source):
    flags = {}
    for line in (source / "src/cpu/isa.def").read_text(encoding="utf-8").splitlines():
        if match := ISA_LINE.match(line):
            flags[match.group(1)] = set(match.group(2).split())
    if not flags:
        raise ValueError(f"{source}/src/cpu/isa.def names no instruction set")
    return flags


def isa_of_output(output, isas):
    """The set that an object is compiled for, by its target's name; None for the baseline and the emulated twins."""
    match = re.search(r"CMakeFiles/(\w+)\.dir/", output)
    target = match.group(1) if match else ""
    for isa in isas:
        if target.endswith(f"_{isa}") and not target.endswith(f"_emulated_{isa}"):
            return isa
    return None


def violations_of_command(name, output, arguments, isas):
    found = [f"{name}: {flag} changes the arithmetic" for flag in arguments if VALUE_CHANGING.match(flag)]
    contraction = [flag for flag in arguments if flag.startswith("-ffp-contract=")]
    if not contraction or contraction[-1] != "-ffp-contract=off":
        found.append(f"{name}: is not compiled with -ffp-contract=off")
    allowed = BASELINE | HARMLESS_MACHINE_FLAGS | isas.get(isa_of_output(output, isas), set())
    for flag in arguments:
        if MACHINE_FLAG.match(flag) and flag not in allowed and not VALUE_CHANGING.match(flag):
            found.append(f"{name}: {flag} in {output}, whose target is not of that instruction set")
    return found


def violations_of_link_flags(ninja_text):
    found = []
    for line in ninja_text.splitlines():
        if re.match(r"^\s+(LINK_FLAGS|FLAGS|LANGUAGE_COMPILE_FLAGS) = ", line):
            found += [f"build.ninja: {flag}" for flag in line.split(" = ", 1)[1].split() if VALUE_CHANGING.match(flag)]
    return sorted(set(found))


def main(arguments):
    parser = argparse.ArgumentParser(description="Checks the compile and link flags of a build.")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    options = parser.parse_args(arguments)
    try:
        isas = isa_flags(options.source)
        commands = json.loads((options.build / "compile_commands.json").read_text(encoding="utf-8"))
        if not commands:
            raise ValueError(f"{options.build}/compile_commands.json is empty")
        found = []
        for command in commands:
            words = command.get("arguments") or shlex.split(command["command"])
            output = command.get("output") or words[words.index("-o") + 1]
            found += violations_of_command(command["file"], output, words, isas)
        ninja = options.build / "build.ninja"
        found += violations_of_link_flags(ninja.read_text(encoding="utf-8")) if ninja.exists() else []
    except (OSError, ValueError, KeyError) as error:
        print(f"check_compile_flags: {error}", file=sys.stderr)
        return 2
    for line in found:
        print(line)
    print(f"{len(commands)} commands, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
