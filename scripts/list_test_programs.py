#!/usr/bin/env python3
"""Prints the programs of BUILD/tests behind the CTest entries whose labels match, one a line (they need not be built).

    scripts/list_test_programs.py BUILD LABEL_REGEX

Each name is also the CMake target. Exit code 1 where there is none.
"""

import json
import os
import subprocess
import sys


def main(build, label_regex):
    command = ["ctest", "--test-dir", build, "--label-regex", label_regex, "--show-only=json-v1"]
    listing = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    folder = os.path.realpath(os.path.join(build, "tests")) + os.sep
    commands = [os.path.realpath(test.get("command", [""])[0]) for test in listing["tests"]]
    programs = sorted({os.path.basename(command) for command in commands if command.startswith(folder)})
    if not programs:
        print(f"list_test_programs: no test of {build} has a label that matches {label_regex}", file=sys.stderr)
        return 1
    print("\n".join(programs))
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
