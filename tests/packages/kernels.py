# SPDX-License-Identifier: MIT
"""The machine code in a program that is packed is for the drivers that docs/packages.md names: kernels.py PROGRAM

NVRTC of CUDA 13 makes files in a format that drivers before 580 refuse; that of CUDA 12 does so for Blackwell alone, which
needs a newer driver anyway. The drivers of CUDA 12 know PTX up to 8.8."""

import lzma
import pathlib
import re
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEWEST_PTX = (8, 8)
BLACKWELL = 100
OLD_FORMAT = 7  # of cubins, a byte of the ELF header; CUDA 13 writes 8


def unpacked(program):
    """Whatever is compressed in it."""
    for start in re.finditer(b'\xfd7zXZ\0', program):
        try:
            yield lzma.LZMADecompressor().decompress(program[start.start():])
        except lzma.LZMAError:
            pass


def architecture(cubin):
    """(its number, the format)"""
    form = cubin[8]
    flags, = struct.unpack_from('<I', cubin, 48)
    return (flags if form <= OLD_FORMAT else flags >> 8) & 0xff, form


def main(path):
    parts = list(unpacked(pathlib.Path(path).read_bytes()))
    forms = dict(architecture(part) for part in parts if part.startswith(b'\x7fELF'))
    versions = [tuple(map(int, found.groups())) for part in parts if (found := re.search(rb'^\.version (\d+)\.(\d+)$', part[:4096], re.M))]
    wanted = re.findall(r'^CUBIN\((\d+)\)', (ROOT / 'gpu/cuda/architectures.def').read_text(), re.M)
    assert sorted(forms) == sorted(map(int, wanted)), f'machine code for {sorted(forms)} instead of {wanted}'
    new = [number for number, form in forms.items() if number < BLACKWELL and form > OLD_FORMAT]
    assert not new, f'machine code of CUDA 13 for {new}, which needs a driver from 580 on'
    assert len(versions) == 1 and versions[0] <= NEWEST_PTX, f'PTX {versions}, where drivers of CUDA 12 know {NEWEST_PTX} at most'
    print(f'machine code for {len(forms)} architectures by CUDA 12, PTX {".".join(map(str, versions[0]))}')


main(sys.argv[1])
