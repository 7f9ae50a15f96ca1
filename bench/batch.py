#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How fast `blurd run` does a folder of mixed pictures, against wrk on the same daemon just before and just after, with as many
requests in flight; the most memory of the client for a tree of many files; and kills.

    tests/python.sh bench/batch.py rate [PICTURES] [JOB]     2000 pictures: JPEG, PNG, WebP and HEIC of 0.1 to 12 MP, 1 % broken
    tests/python.sh bench/batch.py memory [FILES]            200000 small files in one folder, and again with --resume
    tests/python.sh bench/batch.py full [FOLDER] [FILES] [OPTION]...   10000 JPEGs of 1920x1080 in that folder, such as /dev/shm,
                                                             by a daemon with these options: for hosts with a GPU
    BLURD_KILLS=50 tests/python.sh -m pytest -q tests/http/test_batch_kills.py -k killed      kill -9 at 50 moments"""

import importlib.util
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'tests/http'))

import daemon  # noqa: E402
import foreign  # noqa: E402
import numpy  # noqa: E402
from PIL import Image, ImageOps  # noqa: E402

described = importlib.util.spec_from_file_location('sources', HERE / 'pictures.py')  # tests/http has another one of that name
sources = importlib.util.module_from_spec(described)
described.loader.exec_module(sources)

SIZES = ((400, 300), (800, 600), (1280, 720), (1600, 1200), (1920, 1080), (2560, 1440), (3000, 2000), (4000, 3000))
KINDS = (('jpeg', 'jpg'), ('jpeg', 'jpeg'), ('png', 'png'), ('webp', 'webp'), ('heic', 'heic'))


def make_kind(picture, kind):
    if kind == 'heic':
        return foreign.write('heic', numpy.asarray(picture))
    options = {'jpeg': {'quality': 90, 'subsampling': '4:2:0'}, 'webp': {'quality': 80}, 'png': {}}[kind]
    with tempfile.TemporaryFile() as file:
        picture.save(file, kind, **options)
        file.seek(0)
        return file.read()


def make_mixed(folder):
    """Different pictures: each size in each format."""
    made = []
    for number, size in enumerate(SIZES):
        picture = ImageOps.fit(sources.original(list(sources.SCALED)[number % len(sources.SCALED)]), size)
        for place, (kind, ending) in enumerate(KINDS):
            path = folder / f'{number}{place}.{ending}'
            path.write_bytes(make_kind(picture, kind))
            made.append(path)
    random.Random(1).shuffle(made)
    return made


def spread(made, folder, count):
    """A tree of so many files with these contents; each hundredth is cut."""
    for number in range(count):
        source = made[number % len(made)]
        target = folder / f'{number % 10}' / f'{number:06}{source.suffix}'
        target.parent.mkdir(parents=True, exist_ok=True)
        if number % 100 == 99:
            target.write_bytes(source.read_bytes()[:source.stat().st_size // 2])
        else:
            os.link(source, target)


def load(running, job, made, in_flight, seconds):
    done = subprocess.run(['wrk', f'-t{min(2, in_flight)}', f'-c{in_flight}', f'-d{seconds}s', '--timeout', '60s', '-s', HERE / 'rotate.lua',
                           running.url(f'/{job}'), '--', *made], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.splitlines()[-1])
    assert told['failed'] == 0, told
    return told['requests'] / told['seconds']


def peak_of(process):
    """The most memory that a process has had, in KiB, watched until it ends."""
    peak = 0
    while process.poll() is None:
        try:
            peak = max(peak, int(re.search(r'VmHWM:\s+(\d+)', pathlib.Path(f'/proc/{process.pid}/status').read_text())[1]))
        except (OSError, TypeError):
            break
        time.sleep(0.02)
    return peak


def batch(words, cwd):
    """(seconds, KiB, what it said)"""
    start = time.monotonic()
    process = subprocess.Popen([daemon.BINARY, *map(str, words)], cwd=cwd, stderr=subprocess.PIPE, text=True, env=daemon.clean_environment())
    said = []
    reader = threading.Thread(target=lambda: said.append(process.stderr.read()))
    reader.start()
    peak = peak_of(process)
    process.wait()
    reader.join()
    return time.monotonic() - start, peak, said[0].strip().splitlines()


def compare(running, job, folder, made, count, seconds):
    in_flight = requests_in_flight(running)
    before = load(running, job, made, in_flight, seconds)
    took, peak, said = batch(['run', job, 'in', '-r', '-k', '-o', 'out', '-R', 'report', '-s', running.url('')], folder)
    after = load(running, job, made, in_flight, seconds)
    mean = (before + after) / 2
    rate = count / took
    print(f'{job}, {in_flight} in flight: wrk {before:.1f} and {after:.1f}/s, blurd run {rate:.1f}/s: {100 * rate / mean:.1f} %; client {peak / 1024:.1f} MiB')
    print('   ', said[-2] if 'corrupt' in said[-1] else said[-1])


def requests_in_flight(running):
    return running.get('/version').json()['in_flight']


def rate(count=2000, job='blur?sigma=8', *options):
    with tempfile.TemporaryDirectory() as folder, daemon.Daemon(*options) as running:
        folder = pathlib.Path(folder)
        (folder / 'made').mkdir()
        made = make_mixed(folder / 'made')
        spread(made, folder / 'in', int(count))
        compare(running, job, folder, made, int(count), 30)


def memory(count=200000):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / 'in').mkdir()
        (folder / 'one.png').write_bytes(make_kind(Image.new('RGB', (8, 8), (200, 30, 40)), 'png'))
        for number in range(int(count)):
            shutil.copyfile(folder / 'one.png', folder / 'in' / f'somebody_{number:08}.png')
        words = ['run', 'blur?sigma=2', 'in', '-r', '-o', 'out', '-R', 'report', '-j', 4]
        for more in ([], ['--resume']):
            took, peak, said = batch([*words, *more], folder)
            print(f'{count} files{" again" if more else ""}: {took:.1f} s, client {peak / 1024:.1f} MiB; {said[-1]}')


def full(folder='/dev/shm', count=10000, *options):
    path = sources.make('sunset', sources.FULL, 'jpeg')
    with tempfile.TemporaryDirectory(dir=folder) as inside, daemon.Daemon(*options) as running:
        inside = pathlib.Path(inside)
        made = inside / 'made.jpg'
        shutil.copyfile(path, made)
        (inside / 'in').mkdir()
        for number in range(int(count)):
            os.link(made, inside / 'in' / f'{number:06}.jpg')
        daemon.eventually(lambda: '--gpus' in options or requests_in_flight(running) >= 64, 60)
        compare(running, 'blur?sigma=8', inside, [made], int(count), 5)


if __name__ == '__main__':
    {'rate': rate, 'memory': memory, 'full': full}[sys.argv[1]](*sys.argv[2:])
