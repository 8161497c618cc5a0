"""Imports a program of scripts/ by name, for the tests of those programs."""

import importlib.util
import pathlib
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def import_script(name):
    sys.dont_write_bytecode = True  # the source tree stays clean
    path = SOURCE / "scripts" / f"{name}.py"
    specification = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module  # dataclasses look their module up
    specification.loader.exec_module(module)
    return module
