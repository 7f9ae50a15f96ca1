# SPDX-License-Identifier: MIT
"""The other end of tests/load/fail.c: a daemon under whose feet calls fail, told from here which ones."""

import mmap
import os
import pathlib
import struct
import tempfile
import time

import lab

LIBRARY = lab.BUILD['release'].parent / 'tests/load/libfail.so'
OFF, NTH, CHANCE = 0, 1, 2
MODE, COUNT, NUMBER, FAILED, SITES = range(5)  # words of struct control
SITES_MAX, SITE_SIZE = 1000, 32
LAST = 5 * 8 + SITES_MAX * SITE_SIZE
SIZE = LAST + 64


class Control:
    """Which calls fail. Outlives daemons; `environment()` makes one listen to it."""

    def __init__(self):
        self.file = tempfile.NamedTemporaryFile(prefix='blurd-fail-')
        self.file.truncate(SIZE)
        self.memory = mmap.mmap(self.file.fileno(), SIZE)

    def _set(self, word, value):
        struct.pack_into('<Q', self.memory, word * 8, value)

    def _get(self, word):
        return struct.unpack_from('<Q', self.memory, word * 8)[0]

    def environment(self):
        return lab.daemon.clean_environment(LD_PRELOAD=str(LIBRARY), FAIL_CONTROL=self.file.name)

    def arm(self, number, mode=NTH):
        """The number-th call from now on fails, or `number` of 10000 by chance."""
        self._set(MODE, OFF)
        self._set(COUNT, 0)
        self._set(FAILED, 0)
        self._set(NUMBER, number)
        self._set(MODE, mode)

    def disarm(self):
        """Ends the failures; returns the number of calls."""
        self._set(MODE, OFF)
        return self._get(COUNT)

    def calls(self):
        return self._get(COUNT)

    def failed(self):
        return self._get(FAILED)

    def sites(self):
        """The number of calling places in the program and its libraries."""
        return self._get(SITES)

    def last(self):
        """Function and place of the last failure."""
        return self.memory[LAST:SIZE].split(b'\0')[0].decode()

    def functions(self):
        names = (self.memory[at + 8:at + SITE_SIZE] for at in range(5 * 8, LAST, SITE_SIZE))
        return sorted({name.split(b'\0')[0].decode() for name in names} - {''})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.memory.close()
        self.file.close()


def slots(own, looks=1):
    """(descriptors that are not slots, slots); the fewest of so many looks, as a connection may still be closing."""
    if looks > 1:
        found = []
        for _ in range(looks):
            found.append(slots(own))
            time.sleep(0.01)
        return min(found)
    folder = pathlib.Path(f'/proc/{own.process.pid}/fd')
    kinds = []
    for entry in folder.iterdir():
        try:
            kinds.append(os.readlink(entry))
        except OSError:
            pass
    found = sum('blurd-slot' in kind for kind in kinds)
    return len(kinds) - found, found
