# SPDX-License-Identifier: MIT
"""L4: two hundred pictures of 41 megapixels at once in a control group of 512 MiB, and of 64 megapixels in 1 GiB. L11: slow bodies.

    tests/python.sh tests/load/memory.py

Where no control group can be made, the daemon gets the budget that it would choose there, and its resident memory is
measured."""

import collections
import concurrent.futures
import contextlib
import io
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'hostile'))

import lab  # noqa: E402
import pictures  # noqa: E402
import results  # noqa: E402
from PIL import Image  # noqa: E402

LIMITS = {512 << 20: 5000, 1 << 30: 7812}  # of the group: height of its pictures, which are 8192 wide; one request may take 230 MiB, and 460
AT_ONCE = 200
ROOT = pathlib.Path('/sys/fs/cgroup')


def own_group():
    """(folder of this process's memory group, names of the files for: limit, peak, kills, processes)"""
    for line in pathlib.Path('/proc/self/cgroup').read_text().splitlines():
        _, controllers, group = line.split(':', 2)
        if controllers == 'memory':
            return ROOT / 'memory' / group.lstrip('/'), ('memory.limit_in_bytes', 'memory.max_usage_in_bytes', 'memory.oom_control')
        if controllers == '' and (ROOT / group.lstrip('/') / 'memory.max').exists():
            return ROOT / group.lstrip('/'), ('memory.max', 'memory.peak', 'memory.events')
    return None, None


class Group:
    """A control group with a memory limit; `with` puts this process in while a daemon is started. Without
    control groups there is no limit."""

    def __init__(self, limit):
        self.parent, names = own_group()
        self.folder = self.parent / f'blurd-load-{os.getpid()}' if self.parent else None
        try:
            self.folder.mkdir()
            (self.folder / names[0]).write_text(str(limit))
            self.peak_file, self.kills_file = self.folder / names[1], self.folder / names[2]
            self.peak()
        except (OSError, AttributeError):
            self.folder = None

    def enter(self):
        if self.folder:
            (self.folder / 'cgroup.procs').write_text(str(os.getpid()))

    def leave(self):
        if self.folder:
            (self.parent / 'cgroup.procs').write_text(str(os.getpid()))

    def peak(self):
        return int(self.peak_file.read_text())

    def kills(self):
        return int(re.search(r'oom_kill (\d+)', self.kills_file.read_text()).group(1))

    def remove(self):
        if self.folder:
            time.sleep(0.2)
            self.folder.rmdir()


def flat(mode, kind, height, **more):
    """A picture of one colour, in few bytes; with 7812 rows the largest that is allowed by default."""
    Image.MAX_IMAGE_PIXELS = None
    output = io.BytesIO()
    Image.new(mode, (8192, height), 77).save(output, kind, **more)
    return output.getvalue()


def deep(height):
    """16 bits and alpha."""
    rows = zlib.compressobj(1)
    packed = b''.join(rows.compress(bytes(1 + 8 * 8192)) for _ in range(height)) + rows.flush()
    parts = pictures.chunk('IHDR', struct.pack('>IIBBBBB', 8192, height, 16, pictures.RGBA, 0, 0, 0)) + pictures.chunk('IDAT', packed)
    return b'\x89PNG\r\n\x1a\n' + parts + pictures.chunk('IEND', b'')


def from_tool(height, *command):
    """The same picture, written by a program that takes a PNG; b'' without the program."""
    if not shutil.which(command[0]):
        return b''
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, 'a.png'), pathlib.Path(folder, 'a.out')
        source.write_bytes(flat('RGB', 'PNG', height))
        arguments = [str(source), str(target)] if command[0] == 'avifenc' else [str(source), '-o', str(target)]
        subprocess.run([*command, *arguments], check=True, capture_output=True)
        return target.read_bytes()


def hostile_mix(height):
    """(kind, body, target) of pictures that take memory in different ways."""
    eight = '/pipeline?ops=' + '|'.join(['blur:sigma=5'] * 8)
    region = 'region=10%25,10%25,30%25,30%25'
    jpeg, gray, rgba = flat('RGB', 'JPEG', height, subsampling=2), flat('L', 'PNG', height), flat('RGBA', 'PNG', height)
    yield 'JPEG', jpeg, '/blur?sigma=5'
    yield 'progressive', flat('RGB', 'JPEG', height, subsampling=2, progressive=True), '/blur?sigma=5&progressive=true'
    yield 'gray PNG', gray, '/blur?sigma=5'
    yield 'RGBA', rgba, '/blur?sigma=5&format=jpeg'
    yield '16 bits', deep(height), '/blur?sigma=5'
    yield 'linear', jpeg, '/blur?sigma=5&colorspace=linear'
    yield 'mask', jpeg, f'/blur?sigma=2&feather=40&{region}'
    yield 'sharpen', gray, '/sharpen'
    yield 'pipeline of 8', jpeg, eight
    yield 'RGBA pipeline of 8', rgba, eight + '&format=jpeg'
    webp = flat('RGB', 'WEBP', height)
    yield 'WebP', webp, '/blur?sigma=5'
    yield 'lossless WebP', flat('RGBA', 'WEBP', height, lossless=True), '/blur?sigma=5'
    yield 'to lossless WebP', jpeg, '/blur?sigma=5&format=webp&lossless=true'
    yield 'to AVIF', jpeg, '/blur?sigma=5&format=avif&effort=0'
    yield 'deep to AVIF', deep(height), '/blur?sigma=5&format=avif&effort=0'
    yield 'AVIF', from_tool(height, 'avifenc', '-s', '10', '-j', '2'), '/blur?sigma=5&format=png'
    yield 'HEIC', from_tool(height, 'heif-enc'), '/blur?sigma=5&format=png'


def ask(own, kind, body, target):
    try:
        with lab.Client(own, 120) as client:
            return kind, lab.status_of(client.ask(body, target))
    except (OSError, AssertionError) as error:
        return kind, type(error).__name__


def in_group(limit):
    """(sentence, whether the promise was kept) of a daemon in a group with that limit."""
    mix, group = [each for each in hostile_mix(LIMITS[limit]) if each[1]], Group(limit)
    options = ('--queue-interval', '1m', '--workers', 4) + (() if group.folder else ('--memory', f'{int(limit * 0.6) >> 20}MiB'))
    group.enter()
    try:
        own = lab.start(*options)
    finally:
        group.leave()
    with own:
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            asked = [pool.submit(ask, own, *mix[i % len(mix)]) for i in range(AT_ONCE)]
            outcomes = [each.result() for each in asked]
        after = own.post('/blur', pictures.small_jpeg()).status_code
        peak = group.peak() if group.folder else own.status('VmHWM') * 1024
        kills = group.kills() if group.folder else 0
        idle = lab.daemon.eventually(lambda: own.metrics()['blurd_slot_bytes'] == 0)
    group.remove()
    statuses = collections.Counter(status for _, status in outcomes)
    done = collections.Counter(kind for kind, status in outcomes if status == 200)
    figure = (f'{limit >> 20} MiB ({"control group" if group.folder else "resident memory, no control group here"}): peak {peak / limit:.1%}, {kills} killed; '
              f'answers {lab.counted(statuses.elements())}; done {dict(done)}; then {after}')
    return figure, (kills == 0 and peak <= 0.9 * limit and after == 200 and bool(idle) and set(statuses) <= {200, 422, 503} and statuses[200] > 0)


@lab.row('L4', '200 x 41 MP at once in 512 MiB and 200 x 64 MP in 1 GiB: JPEG, progressive, RGBA, 16 bits, linear, masks, sharpen, pipelines, WebP, AVIF, HEIC',
         '0 processes killed for memory, peak at most 90 % of the limit, then a picture is served and all memory given back')
def budget():
    found = [in_group(limit) for limit in LIMITS]
    return '; '.join(figure for figure, _ in found), all(good for _, good in found)


@lab.row('L11', '50 clients that trickle a large body in, beside 1080p PNGs', 'all PNGs 200, memory held by the slow ones at most 256 KiB each and a sixteenth of all beyond what they sent')
def trickling():
    body, slow = pictures.png(pictures.photograph(1920, 1080)), 50
    head = f'POST /blur HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n'.encode()
    with lab.start('--memory', '640MiB', '--workers', 2, '--queue-target', '1m', '--min-rate', 0) as own, concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: own.post('/blur?sigma=5', body), range(32)))  # slots that have seen pictures, and bodies
        with contextlib.ExitStack() as stack:
            connections = [stack.enter_context(own.connect(60)) for _ in range(slow)]
            for connection in connections:
                connection.send(head + body[:20000])
            lab.daemon.eventually(lambda: own.metrics()['blurd_requests_in_flight'] >= slow)
            statuses = collections.Counter()
            for part in range(1, 5):
                statuses.update(answer.status_code for answer in pool.map(lambda _: own.post('/blur?sigma=5', body), range(16)))
                for connection in connections:
                    connection.send(body[part * 20000:(part + 1) * 20000])
            lab.daemon.eventually(lambda: own.metrics()['blurd_slot_bytes'] < 64 << 20)
            held = own.metrics()['blurd_slot_bytes']
    figure = f'{slow} clients with 100 KB each sent hold {held / (1 << 20):.1f} MiB when the others are done; PNGs {lab.counted(statuses.elements())}'
    return figure, set(statuses) == {200} and slow * 100000 <= held <= slow * ((256 << 10) + 100000) + (640 << 20) / 16


OWN = ('L4', 'L11')


def rows():
    return [row for row in lab.ROWS if row.id in OWN]


if __name__ == '__main__':
    results.report(results.results(OWN))
