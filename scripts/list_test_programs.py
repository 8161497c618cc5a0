#!/usr/bin/env python3
"""Prints the programs of BUILD behind the CTest entries whose labels match, one a line.

    scripts/list_test_programs.py BUILD LABEL_REGEX

Each name is also the CMake target, so that a script can build what it is going to run and no more. The build folder must
be configured; nothing has to be built. Exit code 1 where no program matches.
"""

import json
import pathlib
import re
import subprocess
import sys

# As CMake writes them: add_test([=[name]=] "/path/of/program" "argument" ...)
ADD_TEST = re.compile(r'^add_test\((?:\[=\[)?(?P<name>.+?)(?:\]=\])? "(?P<program>[^"]+)"', re.MULTILINE)


def programs_by_test(build):
    """From CMake's own files: CTest's listing leaves out the command of a program that is not built yet."""
    programs = {}
    for path in build.rglob("CTestTestfile.cmake"):
        for match in ADD_TEST.finditer(path.read_text(encoding="utf-8")):
            programs[match.group("name")] = pathlib.Path(match.group("program"))
    return programs


def names_of_tests(build, label_regex):
    command = ["ctest", "--test-dir", str(build), "--label-regex", label_regex, "--show-only=json-v1"]
    listing = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return [test["name"] for test in json.loads(listing.stdout)["tests"]]


def main(build, label_regex):
    build = pathlib.Path(build).resolve()
    programs = programs_by_test(build)
    matching = [programs[name] for name in names_of_tests(build, label_regex) if name in programs]
    names = sorted({program.name for program in matching if build in program.parents})
    if not names:
        print(f"list_test_programs: no program of {build} has a label that matches {label_regex}", file=sys.stderr)
        return 1
    print("\n".join(names))
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
