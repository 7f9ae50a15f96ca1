# SPDX-License-Identifier: MIT
"""The formats, and files of them that other programs than the daemon write and read: webp, libavif-bin, libheif-examples, libjxl-tools."""

import io
import pathlib
import re
import shutil
import subprocess
import tempfile

import numpy
import pytest
from PIL import Image

import anatomy
import bmps
import daemon
import pictures
import tiffs

TABLE = re.findall(r'^(READ_)?FORMAT\(\w+, (\w+)', (daemon.ROOT / 'codecs/formats.def').read_text(), re.M)
READS = tuple(kind for _, kind in TABLE)
WRITES = tuple(kind for only_read, kind in TABLE if not only_read)
MAGIC = {'jpeg': (0, b'\xff\xd8\xff'), 'png': (0, b'\x89PNG'), 'webp': (8, b'WEBP'), 'avif': (4, b'ftypavif'), 'heic': (4, b'ftyp'), 'tiff': (0, b'II*\0'), 'bmp': (0, b'BM'), 'jxl': (0, b'\xff\x0a'), 'gif': (0, b'GIF8')}
WRITERS = {'webp': ('cwebp', '-quiet', '-m', '1', '-q', '95'), 'avif': ('avifenc', '-s', '10', '--min', '4', '--max', '4'),
           'heic': ('heif-enc', '-q', '95'), 'jxl': ('cjxl', '--quiet', '-d', '0.3')}
READERS = {'webp': ('dwebp', '-quiet'), 'avif': ('avifdec',), 'heic': ('heif-convert',), 'jxl': ('djxl', '--quiet')}


def convert(command, data, of, to):
    """Runs a program that reads a file of one type and writes one of another."""
    if not shutil.which(command[0]):
        pytest.skip(f'{command[0]} is not installed')
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, f'in.{of}'), pathlib.Path(folder, f'out.{to}')
        source.write_bytes(data)
        output = ('-o', target) if command[0] in ('cwebp', 'dwebp', 'heif-enc') else (target,)
        done = subprocess.run([*command, source, *output], capture_output=True, timeout=60, check=False)
        if not target.exists():
            pytest.skip(f'{command[0]} cannot do it: {done.stderr.decode()[-200:]}')
        return target.read_bytes()


def by_pillow(data, kind):
    """The picture in another format; a GIF has 256 colours."""
    made = io.BytesIO()
    with Image.open(io.BytesIO(data)) as picture:
        (picture.convert('RGB') if picture.mode == 'P' else picture).save(made, kind)
    return made.getvalue()


def write(kind, samples, *more):
    """A file of that format, of 8 bits a sample; `more`: options of the program that writes it."""
    if kind == 'jpeg':
        return pictures.jpeg(samples, 97)
    if kind == 'bmp':
        return bmps.of(samples if samples.ndim == 3 and samples.shape[2] > 2 else numpy.repeat(samples.reshape(*samples.shape[:2], -1)[:, :, :1], 3, 2))
    if kind == 'tiff':
        return tiffs.tiff(samples, **({'t338': (tiffs.SHORT, 2)} if samples.ndim == 3 and samples.shape[2] in (2, 4) else {}))
    data = pictures.png(samples)
    if kind == 'gif':
        return by_pillow(data, 'GIF')
    return data if kind == 'png' else convert((*WRITERS[kind], *more), data, 'png', kind)


def read_png(kind, data):
    """The file as a PNG, which is of 16 bits for a deep AVIF."""
    return by_pillow(data, 'PNG') if kind == 'gif' else convert(READERS[kind], data, kind, 'png')


def read(kind, data):
    """The pixels of a file, 8 bits."""
    return anatomy.pixels(data if kind in ('jpeg', 'png', 'tiff', 'bmp') else read_png(kind, data))


def kind_of(data):
    """The format that the first bytes say."""
    if data[4:8] == b'JXL ':  # with boxes beside the codestream
        return 'jxl'
    return next(kind for kind, (at, magic) in MAGIC.items() if data[at:at + len(magic)] == magic)
