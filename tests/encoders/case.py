# SPDX-License-Identifier: MIT
"""A file that an encoder wrote, and how one is tried to be written."""

import dataclasses
import pathlib
import subprocess
import tempfile

import numpy

import pictures

WIDTH, HEIGHT = 61, 45


@dataclasses.dataclass
class Case:
    kind: str
    writer: str
    name: str
    body: bytes
    samples: numpy.ndarray | None = None  # what it was made of, where no loss is expected
    refused: str = ''  # a word of the explanation, where the daemon has to refuse it
    query: str = ''


GREY = pictures.photograph(WIDTH, HEIGHT, 1)
RGB = pictures.photograph(WIDTH, HEIGHT)
ALPHA = numpy.tile(numpy.linspace(0, 255, WIDTH).astype(numpy.uint8), (HEIGHT, 1))[:, :, None]
RGBA = numpy.concatenate([RGB, ALPHA], axis=2)
GREY_ALPHA = numpy.concatenate([GREY, ALPHA], axis=2)
FORMS = {'grey': GREY, 'rgb': RGB, 'rgba': RGBA}


def deep(samples):
    """The same in 16 bits, with all of them in use."""
    fine = numpy.arange(samples.shape[1], dtype=numpy.uint16)[None, :, None] * 4
    return numpy.minimum(samples.astype(numpy.uint32) * 257 + fine * (samples > 0) * (samples < 255), 65535).astype(numpy.uint16)


def squeezed(samples):
    """Grey as height x width, which most libraries want."""
    return samples[:, :, 0] if samples.shape[2] == 1 else samples


def run(command, data, of, to):
    """The file that a program writes: {source} and {target} stand for files of these types."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, f'in.{of}'), pathlib.Path(folder, f'out.{to}')
        source.write_bytes(data)
        subprocess.run([word.format(source=source, target=target) for word in command], capture_output=True, check=True, timeout=60)
        return target.read_bytes()


class Shelf:
    """Collects files; what a library cannot write is counted under its name."""

    def __init__(self):
        self.cases, self.unwritten = [], []

    def add(self, kind, writer, name, write, samples=None, **more):
        """`write`: a function that gives the bytes."""
        try:
            body = write()
        except FileNotFoundError as error:  # a program that is not here
            self.unwritten.append(f'{kind} by {writer}, {name}: {error.filename} is not installed')
        except Exception as error:  # pylint: disable=broad-except  # each library has errors of its own
            self.unwritten.append(f'{kind} by {writer}, {name}: {type(error).__name__}: {str(error).strip()[-120:]}')
        else:
            self.cases.append(Case(kind, writer, name, body, samples, **more))
