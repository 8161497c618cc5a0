#!/usr/bin/env python3
"""Proves on the object files that code compiled for one instruction set cannot be run for another.

    scripts/check_isa_symbols.py BUILD [--nm nm]

src/ is compiled several times, once with the flags of each set of src/cpu/isa.def and once against each emulated twin
(lastbit_vectorized_sources in cmake/Targets.cmake). An inline function with external linkage, a template of a
shared type or an inline variable in there becomes a weak symbol: the linker keeps one copy of it for the whole program,
perhaps the one with AVX-512 instructions, and the baseline then dies with an illegal instruction on an older machine.
So every symbol that such an object defines must be

  * local, or global and strong (not weak, not unique),
  * inside the namespace of its own set, and
  * defined by no other object of this kind.

Exit codes: 0 proven, 1 a violation (each is named with its object), 2 wrong usage or nothing to look at.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

ISA_LINE = re.compile(r"^LASTBIT_VECTOR_ISA\((\w+),")
# nm --portability --demangle: name, type, value, size; the name may hold spaces.
SYMBOL_LINE = re.compile(r"^(?P<name>.+?) (?P<type>[A-Za-z]) [0-9a-f]+(?: [0-9a-f]+)?\s*$")

LINKER_CHOOSES = {"W": "weak", "w": "weak", "V": "weak object", "v": "weak object", "u": "unique"}

# A pointer to the C++ runtime's exception handler, data without code and the same in every object.
HARMLESS = {"DW.ref.__gxx_personality_v0"}


def isa_names(source):
    lines = (source / "src/cpu/isa.def").read_text(encoding="utf-8").splitlines()
    names = [match.group(1) for line in lines if (match := ISA_LINE.match(line))]
    if not names:
        raise ValueError(f"{source}/src/cpu/isa.def names no instruction set")
    return names


def namespaces(names):
    return [prefix + name for name in names for prefix in ("", "emulated_")]


def objects_by_namespace(build, names):
    """Namespace -> object files of the targets <library>_<namespace>; every set must have some."""
    found = {}
    for space in namespaces(names):
        folders = [
            folder
            for folder in (build / "src").glob(f"**/CMakeFiles/lastbit_*_{space}.dir")
            # lastbit_kernels_emulated_avx2 also ends in _avx2
            if space.startswith("emulated_") or not folder.name.endswith(f"_emulated_{space}.dir")
        ]
        found[space] = sorted(path for folder in folders for path in folder.rglob("*.o"))
        if not found[space]:
            raise ValueError(f"no object files of the set {space} under {build}/src; build it first")
    return found


def defined_symbols(nm, path):
    """(name, type) of every defined symbol that the linker sees outside the object."""
    command = [nm, "--portability", "--demangle", "--defined-only", "--extern-only", str(path)]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    symbols = []
    for line in listing.splitlines():
        if line.strip():
            match = SYMBOL_LINE.match(line)
            if not match:
                raise ValueError(f"{path}: cannot read this line of {nm}: {line}")
            symbols.append((match.group("name"), match.group("type")))
    return symbols


def violations(symbols_by_object, space_of_object):
    """Both keyed by the object's name; the first gives (name, type) pairs."""
    found = []
    definitions = collections.defaultdict(list)
    for path, symbols in symbols_by_object.items():
        space = space_of_object[path]
        for name, kind in symbols:
            if name in HARMLESS:
                continue
            if kind in LINKER_CHOOSES:
                found.append(f"{path}: {name} is {LINKER_CHOOSES[kind]}: another set's copy may be linked in its place")
                continue
            definitions[name].append(path)
            if not re.search(rf"(^|[ :*&(<]){space}::", name):
                found.append(f"{path}: {name} is outside of namespace {space}")
    for name, paths in definitions.items():
        if len(paths) > 1:
            found.append(f"{name} is defined in {len(paths)} objects: {', '.join(paths)}")
    return found


def main(arguments):
    parser = argparse.ArgumentParser(description="Checks the symbols of the objects compiled per instruction set.")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    parser.add_argument("--nm", default="nm")
    options = parser.parse_args(arguments)
    try:
        objects = objects_by_namespace(options.build, isa_names(options.source))
        symbols, spaces = {}, {}
        for space, paths in objects.items():
            for path in paths:
                name = str(path.relative_to(options.build))
                symbols[name] = defined_symbols(options.nm, path)
                spaces[name] = space
            if not any(symbols[name] for name in symbols if spaces[name] == space):
                raise ValueError(f"the objects of the set {space} define nothing: there is nothing to prove")
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"check_isa_symbols: {error}", file=sys.stderr)
        return 2
    found = violations(symbols, spaces)
    for line in found:
        print(line)
    count = sum(len(listed) for listed in symbols.values())
    print(f"{len(symbols)} objects of {len(objects)} sets, {count} external symbols, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
