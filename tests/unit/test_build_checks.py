#!/usr/bin/env python3
"""The checkers of the build see what they are there for: planted violations must fail them."""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from scripts_under_test import SOURCE, import_script  # noqa: E402  (after the line that keeps the tree clean)

check_compile_flags = import_script("check_compile_flags")
check_isa_symbols = import_script("check_isa_symbols")
check_test_results = import_script("check_test_results")
list_test_programs = import_script("list_test_programs")


class IsaSymbols(unittest.TestCase):
    def symbols_of(self, code, flags=()):
        with tempfile.TemporaryDirectory() as folder:
            source, target = pathlib.Path(folder) / "a.cpp", pathlib.Path(folder) / "a.o"
            source.write_text(code, encoding="utf-8")
            subprocess.run(["c++", "-std=c++20", *flags, "-c", str(source), "-o", str(target)], check=True)
            return check_isa_symbols.defined_symbols("nm", target)

    def violations_of(self, symbols, space="avx2"):
        return check_isa_symbols.violations({"a.o": symbols}, {"a.o": space})

    def test_a_table_and_local_functions_in_the_set_s_namespace_are_right(self):
        code = """
            namespace lastbit::avx2 {
            namespace { struct Vector { static int lanes() { return 8; } };
              template <class V> int twice() { return 2 * V::lanes(); } }
            extern int (*const table)(); int (*const table)() = twice<Vector>;
            }"""
        symbols = self.symbols_of(code)
        self.assertEqual([name for name, _ in symbols], ["lastbit::avx2::table"])
        self.assertEqual(self.violations_of(symbols), [])

    def test_an_inline_function_is_found(self):
        code = "inline int leaked() { return 1; } namespace lastbit::avx2 { int use() { return leaked(); } }"
        found = self.violations_of(self.symbols_of(code, ["-O0"]))
        self.assertEqual(len(found), 1)
        self.assertIn("leaked() is weak", found[0])

    def test_a_template_over_a_shared_type_is_found(self):
        code = """
            #include <algorithm>
            namespace lastbit::avx2 { int use(int a, int b) { return *&std::max(a, b); } }"""
        found = self.violations_of(self.symbols_of(code, ["-O0"]))
        self.assertTrue(any("std::max" in line and "weak" in line for line in found), found)

    def test_an_inline_variable_is_found(self):
        code = """
            inline int counter = 0; template <class T> int& unique() { static int value; return value; }
            namespace lastbit::avx2 { int use() { return ++counter + ++unique<int>(); } }"""
        kinds = {kind for _, kind in self.symbols_of(code, ["-O0"])}
        self.assertTrue(kinds & {"u", "V"}, kinds)
        self.assertGreaterEqual(len(self.violations_of(self.symbols_of(code, ["-O0"]))), 2)

    def test_a_function_outside_of_the_set_s_namespace_is_found(self):
        symbols = self.symbols_of("namespace lastbit::kernels { int use() { return 1; } }")
        self.assertIn("outside of namespace avx2", self.violations_of(symbols)[0])
        symbols = self.symbols_of("namespace lastbit::emulated_avx2 { int use() { return 1; } }")
        self.assertEqual(len(self.violations_of(symbols, "avx2")), 1)
        self.assertEqual(self.violations_of(symbols, "emulated_avx2"), [])

    def test_a_symbol_of_two_objects_is_found(self):
        symbols = [("lastbit::avx2::table", "D")]
        found = check_isa_symbols.violations({"a.o": symbols, "b.o": symbols}, {"a.o": "avx2", "b.o": "avx2"})
        self.assertEqual(found, ["lastbit::avx2::table is defined in 2 objects: a.o, b.o"])

    def test_a_set_without_objects_is_an_error(self):
        output = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(output):
            self.assertEqual(check_isa_symbols.main([folder, "--source", str(SOURCE)]), 2)
        self.assertIn("no object files of the set", output.getvalue())


class CompileFlags(unittest.TestCase):
    isas = {"avx2": {"-mavx2", "-mfma"}, "avx512": {"-mavx2", "-mavx512f"}}

    def violations_of(self, flags, target="lastbit_base"):
        output = f"src/x/CMakeFiles/{target}.dir/a.cpp.o"
        words = ["c++", "-ffp-contract=off", "-march=x86-64-v2", "-mtune=generic", *flags]
        return check_compile_flags.violations_of_command("a.cpp", output, words, self.isas)

    def test_the_project_s_own_flags_are_right(self):
        self.assertEqual(self.violations_of(["-O3", "-fno-fast-math", "-Wall"]), [])
        self.assertEqual(self.violations_of(["-mavx2", "-mfma"], "lastbit_kernels_avx2"), [])

    def test_each_flag_that_changes_values_is_found(self):
        flags = """-ffast-math -Ofast -funsafe-math-optimizations -fassociative-math -freciprocal-math
                   -ffinite-math-only -fno-signed-zeros -ffp-contract=fast -mrecip -mdaz-ftz
                   -fdenormal-fp-math=preserve-sign -march=native -mfpmath=387"""
        for flag in flags.split():
            self.assertTrue(self.violations_of([flag]), flag)

    def test_contraction_must_be_off_in_the_end(self):
        words = ["c++", "-O2", "a.cpp"]
        self.assertEqual(len(check_compile_flags.violations_of_command("a.cpp", "a.o", words, self.isas)), 1)

    def test_flags_of_a_set_are_refused_in_the_baseline_and_in_other_sets(self):
        for target in ("lastbit_base", "lastbit_kernels", "lastbit_kernels_emulated_avx512", "lastbit_kernels_avx2"):
            self.assertEqual(len(self.violations_of(["-mavx512f"], target)), 1, target)
        self.assertEqual(self.violations_of(["-mavx512f"], "lastbit_kernels_avx512"), [])
        self.assertEqual(len(self.violations_of(["-march=x86-64-v3"])), 1)

    def test_link_flags_are_read(self):
        text = "build bin/lastbit: LINK\n  LINK_FLAGS = -O3 -Ofast\n"
        self.assertEqual(check_compile_flags.violations_of_link_flags(text), ["build.ninja: -Ofast"])


class TestResults(unittest.TestCase):
    entries = [
        ("matmul_test", ["unit"], "matmul_test"),
        ("real_test", ["real"], "real_test"),
        ("layers", ["unit"], None),
    ]
    passed = '<testcase name="Works" classname="Suite" status="run" result="completed"/>'

    def check(self, real=passed, junit=None, required=("real",), entries=None):
        if junit is None:
            junit = "".join(f'<testcase name="{name}" status="run"/>' for name, _, _ in entries or self.entries)
        texts = {"matmul_test": [f"<testsuites><testsuite>{self.passed}</testsuite></testsuites>"]}
        if real is not None:
            texts["real_test"] = [f"<testsuites><testsuite>{real}</testsuite></testsuites>"]
        junit = f"<testsuite>{junit}</testsuite>"
        return check_test_results.check(entries or self.entries, junit, texts, required)

    def skipped(self, message, name="Hash"):
        return (
            f'<testcase name="{name}" classname="Suite" status="run" result="skipped">'
            f'<skipped message="a.cpp:4&#x0A;{message}"><![CDATA[a.cpp:4\n{message}]]></skipped></testcase>'
        )

    def test_all_passed_is_accepted(self):
        outcome = self.check()
        self.assertEqual((outcome.passed, outcome.not_run, outcome.problems), (2, [], []))

    def test_a_skip_for_want_of_a_checkpoint_is_a_problem(self):
        message = "not run: models/gemma.gguf is absent (make models)"
        outcome = self.check(self.passed + self.skipped(message))
        self.assertEqual(outcome.problems, [f"real_test: Suite.Hash was skipped: {message}"])

    def test_a_skip_for_want_of_an_instruction_set_is_reported_and_accepted(self):
        outcome = self.check(self.passed + self.skipped("not run: this machine lacks avx512"))
        self.assertEqual(outcome.problems, [])
        self.assertEqual(outcome.not_run, ["real_test: Suite.Hash: not run: this machine lacks avx512"])

    def test_a_required_label_of_which_nothing_ran_is_a_problem(self):
        self.assertEqual(len(self.check(self.skipped("not run: this machine lacks avx512")).problems), 1)
        self.assertEqual(len(self.check(entries=self.entries[:1]).problems), 1)

    def test_a_program_without_tests_or_without_results_is_a_problem(self):
        self.assertIn("real_test: has no test", self.check("", required=()).problems)
        self.assertIn("real_test: left no GoogleTest result", self.check(None, required=()).problems)

    def test_failed_and_disabled_tests_are_problems(self):
        failed = '<testcase name="A" classname="S" status="run" result="completed"><failure message="x"/></testcase>'
        disabled = '<testcase name="DISABLED_B" classname="S" status="notrun" result="suppressed"/>'
        self.assertEqual(len(self.check(self.passed + failed + disabled).problems), 2)

    def test_an_entry_that_ctest_did_not_run_is_a_problem(self):
        two = '<testcase name="matmul_test" status="run"/><testcase name="layers" status="run"/>'
        thirds = (
            "",
            '<testcase name="real_test" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>',
            '<testcase name="real_test" status="fail"><failure message="Timeout"/></testcase>',
            '<testcase name="real_test" status="disabled"/>',
        )
        for third in thirds:
            self.assertEqual(len(self.check(junit=two + third).problems), 1, third)

    def test_result_files_are_matched_to_their_programs(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for file in ("matmul_test.xml", "matmul_test_1.xml", "case_2.xml", "case_2_1.xml"):
                (folder / file).write_text("<testsuites/>", encoding="utf-8")
            texts = check_test_results.read_gtest_texts(folder, {"matmul_test", "case_2"})
            self.assertEqual({program: len(files) for program, files in texts.items()}, {"matmul_test": 2, "case_2": 2})


class ListTestPrograms(unittest.TestCase):
    def test_programs_are_found_by_label_before_they_are_built(self):
        with tempfile.TemporaryDirectory() as name:
            build = pathlib.Path(name).resolve()
            (build / "src").mkdir()
            (build / "CTestTestfile.cmake").write_text('subdirs("src")\n', encoding="utf-8")
            entries = [("a", f"{build}/tests/a_test", "unit"), ("b", f"{build}/fuzz/b_fuzzer", "parser")]
            entries += [("c", f"{build}/tests/c_test", "real"), ("d", "/usr/bin/python3", "unit")]
            lines = [
                f'add_test([=[{test}]=] "{program}" "--flag")\n'
                f'set_tests_properties([=[{test}]=] PROPERTIES  LABELS "{label}")\n'
                for test, program, label in entries
            ]
            (build / "src/CTestTestfile.cmake").write_text("".join(lines), encoding="utf-8")
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                self.assertEqual(list_test_programs.main(build, "^(unit|parser)$"), 0)
            self.assertEqual(output.getvalue().split(), ["a_test", "b_fuzzer"])
            with contextlib.redirect_stderr(output):
                self.assertEqual(list_test_programs.main(build, "^golden$"), 1)


if __name__ == "__main__":
    unittest.main()
