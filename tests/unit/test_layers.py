#!/usr/bin/env python3
"""Direction test: each folder of src/ uses only itself and the folders before it in LAYERS.

    tests/unit/test_layers.py [--source FOLDER]

Read are the #include lines of include/ and src/, and the libraries that each src/<folder>/CMakeLists.txt names. A
violation is reported as file:line. The checker itself is tested on planted violations.
"""

import argparse
import pathlib
import re
import sys
import tempfile
import unittest

# In the order of docs/development.md. include/lastbit is the first: everybody may use it, and it uses nothing of src/.
LAYERS = (
    "base",
    "cpu",
    "numerics",
    "kernels",
    "formats",
    "text",
    "vision",
    "blocks",
    "families",
    "engine",
    "evidence",
    "server",
    "cli",
)

# Per-set translation units include the wrapper that the build names: one of src/cpu/vector_*.hpp.
COMPUTED_INCLUDES = {"LASTBIT_VECTOR_HEADER": "cpu/vector_avx2.hpp"}

# A translation unit with one of these takes seconds, so they stay out of headers (include them in .cpp files).
HEAVY_IN_HEADERS = ("nlohmann/", "CLI/", "fmt/")

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>|(\w+))')
BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
LIBRARY = re.compile(r"\blastbit_(%s)(?:_emulated)?\b" % "|".join(LAYERS))

PUBLIC = -1  # the rank of include/lastbit


def without_block_comments(text):
    """Blanks them but keeps the line breaks, so that line numbers stay right."""
    return BLOCK_COMMENT.sub(lambda match: "\n" * match.group().count("\n"), text)


def rank_of_file(path, root):
    """Position in LAYERS of a file of src/, PUBLIC for include/, None for a folder that LAYERS does not name."""
    parts = path.relative_to(root).parts
    if parts[0] == "include":
        return PUBLIC
    return LAYERS.index(parts[1]) if len(parts) > 2 and parts[1] in LAYERS else None


def is_test(path):
    return path.stem.endswith(("_test", "_benchmark"))


def violation_of_include(path, root, rank, quoted, angled, computed):
    """The reason why this file may not have this include, or None."""
    name = quoted or angled or COMPUTED_INCLUDES.get(computed)
    if name is None:
        return f"includes the macro {computed}, which this test does not know"
    if path.suffix == ".hpp" and name.startswith(HEAVY_IN_HEADERS):
        return f"a header includes {name}, which is slow to compile; include it in a .cpp file"
    first = name.split("/")[0]
    if quoted and first == "tests":
        return None if is_test(path) else f"includes {name}, but is no test"
    if first == "lastbit":
        return None
    target = None
    if first in LAYERS and (quoted or computed or (root / "src" / name).exists()):
        target = LAYERS.index(first)
    elif quoted:
        return f'includes "{name}", which is neither a folder of src/ nor lastbit/; name project files from src/'
    if target is None or target <= rank:
        return None
    if rank == PUBLIC:
        return f"the public API includes {name}; it may use include/ alone"
    return f"{LAYERS[rank]} includes {name}, but {LAYERS[target]} comes after it"


def violations_of_source(path, root):
    where = path.relative_to(root)
    rank = rank_of_file(path, root)
    if rank is None:
        return [f"{where}:1: its folder is not in LAYERS of tests/unit/test_layers.py"]
    found = []
    for number, line in enumerate(without_block_comments(path.read_text(encoding="utf-8")).splitlines(), 1):
        if match := INCLUDE.match(line):
            if reason := violation_of_include(path, root, rank, *match.groups()):
                found.append(f"{where}:{number}: {reason}")
    return found


def violations_of_build_file(path, root):
    """The libraries that a folder links must point the same way as its includes."""
    rank = rank_of_file(path, root)
    if rank is None:
        return [f"{path.relative_to(root)}:1: its folder is not in LAYERS of tests/unit/test_layers.py"]
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for match in LIBRARY.finditer(line.split("#")[0]):
            if LAYERS.index(match.group(1)) > rank:
                where = f"{path.relative_to(root)}:{number}"
                found.append(f"{where}: {LAYERS[rank]} links {match.group()}, which comes after it")
    return found


def violations(root):
    found = []
    for top in ("include", "src"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".hpp", ".cpp", ".h", ".cc", ".cu", ".cuh", ".def", ".inc"):
                found += violations_of_source(path, root)
    for path in sorted((root / "src").glob("*/CMakeLists.txt")):
        found += violations_of_build_file(path, root)
    return found


class PlantedViolations(unittest.TestCase):
    """The checker sees what it is there for, and accepts what is right."""

    def found_in(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return violations(root)

    def test_includes_of_lower_and_own_folders_are_right(self):
        text = '#pragma once\n#include <vector>\n#include "base/error.hpp"\n#include "kernels/matmul/matmul.hpp"\n'
        self.assertEqual(self.found_in({"src/kernels/matmul/matmul.hpp": text}), [])

    def test_an_include_of_a_later_folder_is_named_with_file_and_line(self):
        found = self.found_in({"src/base/file.cpp": '#include "base/file.hpp"\n\n#include "cpu/isa.hpp"\n'})
        self.assertEqual(found, ["src/base/file.cpp:3: base includes cpu/isa.hpp, but cpu comes after it"])

    def test_angle_brackets_hide_nothing(self):
        found = self.found_in({"src/base/a.cpp": "# include <engine/engine.hpp>\n", "src/engine/engine.hpp": ""})
        self.assertEqual(len(found), 1)

    def test_a_system_header_named_like_a_folder_is_not_ours(self):
        self.assertEqual(self.found_in({"src/base/a.cpp": "#include <text/other_project.h>\n"}), [])

    def test_a_path_relative_to_the_file_is_refused(self):
        self.assertEqual(len(self.found_in({"src/cpu/isa.cpp": '#include "isa.hpp"\n'})), 1)
        self.assertEqual(len(self.found_in({"src/base/a.cpp": '#include "../cpu/isa.hpp"\n'})), 1)

    def test_comments_do_not_include_and_do_not_shift_lines(self):
        text = '// #include "cli/a.hpp"\n/*\n#include "cli/b.hpp"\n*/\n#include "cli/c.hpp"\n'
        found = self.found_in({"src/base/a.cpp": text})
        self.assertEqual([line.split(": ")[0] for line in found], ["src/base/a.cpp:5"])

    def test_the_public_api_uses_nothing_of_the_sources(self):
        text = '#include "lastbit/model.hpp"\n#include "base/error.hpp"\n'
        found = self.found_in({"include/lastbit/lastbit.hpp": text})
        self.assertEqual([line.split(": ")[0] for line in found], ["include/lastbit/lastbit.hpp:2"])

    def test_only_tests_include_test_support(self):
        text = '#include "tests/support/compare.hpp"\n'
        self.assertEqual(self.found_in({"src/kernels/a/a_test.cpp": text}), [])
        self.assertEqual(len(self.found_in({"src/kernels/a/a.cpp": text})), 1)

    def test_heavy_headers_stay_out_of_headers(self):
        text = "#include <nlohmann/json.hpp>\n#include <fmt/format.h>\n#include <CLI/CLI.hpp>\n"
        self.assertEqual(len(self.found_in({"src/cli/a.hpp": text})), 3)
        self.assertEqual(self.found_in({"src/cli/a.cpp": text}), [])

    def test_the_vector_header_belongs_to_cpu_and_other_macros_are_refused(self):
        self.assertEqual(self.found_in({"src/kernels/a/vectorized.cpp": "#include LASTBIT_VECTOR_HEADER\n"}), [])
        self.assertEqual(len(self.found_in({"src/base/a.cpp": "#include LASTBIT_VECTOR_HEADER\n"})), 1)
        self.assertEqual(len(self.found_in({"src/kernels/a/a.cpp": "#include OTHER\n"})), 1)

    def test_a_folder_outside_the_list_is_refused(self):
        self.assertEqual(len(self.found_in({"src/helpers/a.cpp": ""})), 1)
        self.assertEqual(len(self.found_in({"src/main.cpp": ""})), 1)

    def test_a_library_of_a_later_folder_is_refused(self):
        text = "lastbit_library(cpu\n  SOURCES isa.cpp\n  DEPENDS lastbit_base lastbit_engine)  # lastbit_cli\n"
        found = self.found_in({"src/cpu/CMakeLists.txt": text})
        self.assertEqual(found, ["src/cpu/CMakeLists.txt:3: cpu links lastbit_engine, which comes after it"])


class ThisTree(unittest.TestCase):
    root = pathlib.Path(__file__).resolve().parents[2]

    def test_every_folder_uses_only_those_before_it(self):
        self.assertTrue((self.root / "src" / "base").is_dir(), f"{self.root} is not the source tree")
        found = violations(self.root)
        self.assertEqual(found, [], "\n" + "\n".join(found))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, default=ThisTree.root)
    options, others = parser.parse_known_args()
    ThisTree.root = options.source.resolve()
    unittest.main(argv=[sys.argv[0], *others])
