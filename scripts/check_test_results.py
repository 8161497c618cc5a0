#!/usr/bin/env python3
"""Says whether the tests of a build really ran, from what CTest and the GoogleTest programs wrote down.

    scripts/check_test_results.py BUILD [--label-regex REGEX] [--require-label LABEL]...

A green CTest run is not enough: a GoogleTest program passes when all its tests are skipped, or when it has none. Read
are BUILD/test-results/ctest.junit and, one for each GoogleTest program, BUILD/test-results/*.xml (`make test` leaves
both). Fails (exit code 1) when

  * a CTest entry did not run or did not pass,
  * a GoogleTest program left no result, ran no test, or has a test that failed or was skipped, except for
  * an instruction set that this machine lacks: a skip whose message starts with "not run: this machine lacks" is
    reported as not run, and accepted;
  * no test has a label that --require-label names, or all tests of a program with that label were not run.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

LACKING_ISA = "not run: this machine lacks"


@dataclasses.dataclass
class Outcome:
    passed: int = 0
    not_run: list = dataclasses.field(default_factory=list)  # "Suite.Test: message", accepted
    problems: list = dataclasses.field(default_factory=list)


def ctest_outcome(junit_text, expected_names):
    """Every expected entry must be in the JUnit file of CTest, as run."""
    outcome = Outcome()
    seen = set()
    for case in xml.etree.ElementTree.fromstring(junit_text).iter("testcase"):
        name = case.get("name")
        seen.add(name)
        status = case.get("status")
        if status == "run":
            outcome.passed += 1
        else:
            details = " ".join(child.get("message", "") for child in case if child.tag in ("failure", "skipped"))
            outcome.problems.append(f"{name}: {status} {details}".rstrip())
    outcome.problems += [f"{name}: is missing from the results" for name in sorted(set(expected_names) - seen)]
    if not seen:
        outcome.problems.append("CTest ran no test at all")
    return outcome


def gtest_outcome(program, xml_texts):
    """`xml_texts`: the result files of one program (one, unless it is registered with several filters)."""
    outcome = Outcome()
    if not xml_texts:
        outcome.problems.append(f"{program}: left no GoogleTest result")
    for text in xml_texts:
        for case in xml.etree.ElementTree.fromstring(text).iter("testcase"):
            name = f"{case.get('classname')}.{case.get('name')}"
            skipped = case.find("skipped")
            if case.find("failure") is not None:
                outcome.problems.append(f"{program}: {name} failed")
            elif skipped is not None or case.get("result") == "skipped":
                message = "" if skipped is None else message_of_skip(skipped)
                if message.startswith(LACKING_ISA):
                    outcome.not_run.append(f"{program}: {name}: {message}")
                else:
                    outcome.problems.append(f"{program}: {name} was skipped: {message}")
            elif case.get("status") == "run" and case.get("result") == "completed":
                outcome.passed += 1
            elif "DISABLED_" in name:
                outcome.problems.append(f"{program}: {name} is disabled")
            # What is left was filtered out: its program is registered with a filter, more than once.
    if xml_texts and outcome.passed == 0 and not outcome.problems and not outcome.not_run:
        outcome.problems.append(f"{program}: has no test")
    return outcome


def message_of_skip(skipped):
    """GoogleTest writes "file:line" and the message on the lines after it."""
    text = skipped.text or skipped.get("message", "")
    lines = [line for line in text.strip().splitlines() if line]
    if lines and ":" in lines[0] and lines[0].rsplit(":", 1)[1].isdigit():
        lines = lines[1:]
    return " ".join(lines).strip()


def entries_of_build(build, label_regex):
    """(name, labels, program or None) of each registered test; the program only if it is one of BUILD/tests."""
    command = ["ctest", "--test-dir", str(build), "--show-only=json-v1"]
    if label_regex:
        command += ["--label-regex", label_regex]
    listing = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
    )
    programs = os.path.realpath(build / "tests") + os.sep
    entries = []
    for test in json.loads(listing.stdout)["tests"]:
        labels = next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])
        command = os.path.realpath(test.get("command", [""])[0])
        entries.append((test["name"], labels, os.path.basename(command) if command.startswith(programs) else None))
    return entries


def check(entries, junit_text, gtest_texts, required_labels):
    """`gtest_texts`: program name -> texts of its result files. Returns the outcome of all."""
    total = ctest_outcome(junit_text, [name for name, _, _ in entries])
    total.passed = 0
    passed_by_program = {}
    for program in sorted({program for _, _, program in entries if program}):
        outcome = gtest_outcome(program, gtest_texts.get(program, []))
        passed_by_program[program] = outcome.passed
        total.passed += outcome.passed
        total.not_run += outcome.not_run
        total.problems += outcome.problems
    for label in required_labels:
        labelled = [(name, program) for name, labels, program in entries if label in labels]
        if not labelled:
            total.problems.append(f"no test has the label {label}")
        for name, program in labelled:
            if program and passed_by_program[program] == 0:
                total.problems.append(f"{name}: none of its tests ran, and its label is {label}")
    return total


def read_gtest_texts(folder, programs):
    """GoogleTest names the file after the program, and appends _1, _2 ... where one of that name exists."""
    texts = {}
    for path in sorted(folder.glob("*.xml")):
        stem, _, number = path.stem.rpartition("_")
        program = path.stem if path.stem in programs or not number.isdigit() else stem
        texts.setdefault(program, []).append(path.read_text(encoding="utf-8"))
    return texts


def main(arguments):
    parser = argparse.ArgumentParser(description="Says whether the tests of a build really ran.")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--label-regex", metavar="REGEX", help="the run was limited to these labels")
    parser.add_argument("--require-label", action="append", default=[], metavar="LABEL")
    options = parser.parse_args(arguments)
    results = options.build / "test-results"
    try:
        entries = entries_of_build(options.build, options.label_regex)
        junit_text = (results / "ctest.junit").read_text(encoding="utf-8")
        gtest_texts = read_gtest_texts(results, {program for _, _, program in entries if program})
        outcome = check(entries, junit_text, gtest_texts, options.require_label)
    except (OSError, subprocess.CalledProcessError, xml.etree.ElementTree.ParseError) as error:
        print(f"check_test_results: cannot read the results of {options.build}: {error}", file=sys.stderr)
        return 1
    for line in outcome.not_run:
        print(f"not run: {line}")
    for line in outcome.problems:
        print(f"problem: {line}")
    print(
        f"{len(entries)} CTest entries, {outcome.passed} GoogleTest tests passed, {len(outcome.not_run)} not run "
        f"for want of an instruction set, {len(outcome.problems)} problems"
    )
    return 1 if outcome.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
