# SPDX-License-Identifier: MIT
"""Pictures, made without a library, since the tests run on Pythons that have none."""

import struct
import zlib

# Letters of 5 by 7 dots.
FONT = {
    'B': ('####.', '#...#', '#...#', '####.', '#...#', '#...#', '####.'),
    'L': ('#....', '#....', '#....', '#....', '#....', '#....', '#####'),
    'U': ('#...#', '#...#', '#...#', '#...#', '#...#', '#...#', '.###.'),
    'R': ('####.', '#...#', '#...#', '####.', '#.#..', '#..#.', '#...#'),
    'D': ('####.', '#...#', '#...#', '#...#', '#...#', '#...#', '####.'),
}
DOT = 4


def chunk(kind, content):
    return struct.pack('>I', len(content)) + kind + content + struct.pack('>I', zlib.crc32(kind + content))


def png(width, height, sample, colour=2):
    """`sample(x, y)` gives the bytes of a pixel."""
    rows = b''.join(b'\0' + b''.join(sample(x, y) for x in range(width)) for y in range(height))
    head = struct.pack('>IIBBBBB', width, height, 8, colour, 0, 0, 0)
    return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b'')


def gradient(width=64, height=48, seed=0):
    return png(width, height, lambda x, y: bytes((x * 4 % 256, (y * 5 + seed) % 256, (x * y + seed) % 256)))


def letters(word):
    """A word in black on white, with a margin."""
    dots = ['.' * (6 * len(word) + 6)] * 3
    dots = [*dots, *('...' + ''.join(FONT[letter][row] + '.' for letter in word) + '...' for row in range(7)), *dots]
    return png(DOT * len(dots[0]), DOT * len(dots), lambda x, y: bytes(3) if dots[y // DOT][x // DOT] == '#' else b'\xff' * 3)


def mask(width, height):
    """Grey: the left half is white."""
    return png(width, height, lambda x, _: b'\xff' if x < width // 2 else b'\0', colour=0)
