#!/usr/bin/env python3
"""Turns a NumPy archive into a safetensors file, byte for byte the same file every time (standard library only).

    scripts/npz_to_safetensors.py blocks.npz blocks.safetensors [--skip REGEX]

Tests read one format; this is how reference values that come as .npz get into tests/data.
"""

import argparse
import ast
import json
import re
import struct
import sys
import zipfile

DTYPES = {"|u1": "U8", "|i1": "I8", "<u2": "U16", "<i2": "I16", "<u4": "U32", "<i4": "I32", "<u8": "U64", "<i8": "I64",
          "<f2": "F16", "<f4": "F32", "<f8": "F64", "|b1": "BOOL"}


def read_npy(content: bytes) -> tuple[str, list[int], bytes]:
    """The dtype (as safetensors calls it), shape and bytes of a .npy file (format 1.0 or 2.0)."""
    if content[:6] != b"\x93NUMPY":
        raise ValueError("not a .npy file")
    if content[6] == 1:
        (length,), start = struct.unpack("<H", content[8:10]), 10
    else:
        (length,), start = struct.unpack("<I", content[8:12]), 12
    header = ast.literal_eval(content[start:start + length].decode("latin1"))
    if header["fortran_order"] and len(header["shape"]) > 1:
        raise ValueError("column-major arrays are not supported")
    if header["descr"] not in DTYPES:
        raise ValueError(f"dtype {header['descr']} is not supported")
    return DTYPES[header["descr"]], list(header["shape"]), content[start + length:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive")
    parser.add_argument("output")
    parser.add_argument("--skip", metavar="REGEX", help="arrays whose whole name matches are left out")
    arguments = parser.parse_args()

    arrays = {}
    with zipfile.ZipFile(arguments.archive) as archive:
        for entry in sorted(archive.namelist()):
            name = entry.removesuffix(".npy")
            if arguments.skip and re.fullmatch(arguments.skip, name):
                continue
            arrays[name] = read_npy(archive.read(entry))

    header, offset = {}, 0
    for name, (dtype, shape, data) in arrays.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # data starts at a multiple of 8, as the format asks
    with open(arguments.output, "wb") as output:
        output.write(struct.pack("<Q", len(text)) + text)
        for _, _, data in arrays.values():
            output.write(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
