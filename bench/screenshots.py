#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures PNGs beside sharp, libvips and another build of blurd, and writes bench/results/screenshots.md.

    bench/peers/install.sh && tests/python.sh bench/screenshots.py [--other PROGRAM] [--runs N]

A place of 200x24 pixels that is hidden in screenshots (bench/screens.py), by blurd with tiles, by the others with a black box; and a blur of photographs. All programs take turns with each picture; the
least CPU time of --runs requests counts, of all threads and processes. blurd and sharp are servers; libvips is a library without HTTP, and
what imgproxy writes PNGs with. At the end each server gets one large screenshot at a time, and the time until its answer counts."""
import argparse
import pathlib
import statistics
import tempfile
import time

import pictures
import report
import screens
import subjects

REGION = (600, 400, 200, 24)
SIGMA = 5
ABOUT = '''# PNGs beside others

A place of {0}x{1} pixels is hidden in screenshots that `bench/screens.py` draws, by blurd with tiles, by the others with a black box, and photographs are blurred
with sigma {2}. CPU milliseconds are those of all processes, the least of several requests, and the mean over the pictures of a row. Bytes are those of answers, blurd's
as a part of the other's.
`bench/screenshots.py` measures this: {3}.'''
ALONE = '''

One RGBA screenshot of 2560x1440 at a time, with {0} cores and all workers: milliseconds until the answer is there, the median of {1} requests.

'''
NAMES = {'rgb': 'RGB', 'rgba': 'RGBA without transparency', 'palette': '250 colours', 'palette-16': '16 colours', 'palette-alpha': '64 colours, alpha',
         'grey': 'grey', 'grey-rgb': 'grey stored as RGB', 'bits': 'black and white'}


def large(folder):
    screens.draw(folder / 'large', (2560, 1440))
    return sorted((folder / 'large').glob('*-rgba.png'))


def screenshots(folder):
    """Name of a kind -> files."""
    kinds = {}
    screens.draw(folder / 'small', pictures.FULL)
    for path in sorted((folder / 'small').glob('*.png')):
        kind = NAMES.get(path.stem.split('-', 1)[1])
        if kind:
            kinds.setdefault(f'{kind}, 1920x1080', []).append(path)
    kinds['RGBA without transparency, 2560x1440'] = large(folder)
    return kinds


class Served:
    """A server: its CPU time for one request."""

    def __init__(self, server, hides='/pixelate?block=8&mode=redact&region='):
        self.server, self.hides = server, hides

    def once(self, path, region):
        target = self.hides + ','.join(map(str, region)) if region else f'/blur?sigma={SIGMA}'
        before = sum(map(subjects.cpu_seconds, subjects.children(self.server.process.pid)))
        answer = self.server.request('POST', target, path.read_bytes())
        return 1e3 * (sum(map(subjects.cpu_seconds, subjects.children(self.server.process.pid))) - before), len(answer)

    def wait(self, path, region):
        body = path.read_bytes()
        before = time.perf_counter()
        self.server.request('POST', self.hides + ','.join(map(str, region)), body)
        return 1e3 * (time.perf_counter() - before)

    def stop(self):
        self.server.stop()


class Called:
    """A library."""

    def __init__(self, name):
        self.server = subjects.Library(name)

    def once(self, path, region):
        done = self.server.job(path, SIGMA, 0, region=region)
        return min(done['ms']), done['bytes']

    def stop(self):
        self.server.stop()


def measure(all_subjects, files, region, runs):
    """Subject -> mean of the least times, mean bytes."""
    least = {name: [(float('inf'), 0)] * len(files) for name in all_subjects}
    for _ in range(runs):
        for i, path in enumerate(files):
            for name, subject in all_subjects.items():
                least[name][i] = min(least[name][i], subject.once(path, region))
    return {name: (statistics.mean(ms for ms, _ in cells), statistics.mean(size for _, size in cells)) for name, cells in least.items()}


def alone(servers, files, region, runs):
    """A table of medians, and the number of requests."""
    taken = {name: [] for name in servers}
    for _ in range(runs):
        for path in files:
            for name, server in servers.items():
                taken[name].append(server.wait(path, region))
    return report.table(['', *taken], [['alone, ms', *(report.number(statistics.median(ms)) for ms in taken.values())]]), runs * len(files)


def row_of(kind, done):
    own_ms, own_bytes = done['blurd']
    others = [(ms, size) for name, (ms, size) in done.items() if name != 'blurd']
    return [kind, report.number(own_ms), *(f'{report.number(ms)} ({ms / own_ms:.1f}x)' for ms, _ in others), *(f'{own_bytes / size:.2f}' for _, size in others)]


def start(options, workers, others):
    found = {'blurd': Served(subjects.Blurd(options=workers))}
    if options.other:
        found['other build'] = Served(subjects.Blurd(options=workers, program=options.other))
    for name, make in others:
        try:
            found[name] = make()
        except (RuntimeError, OSError) as why:
            print(f'{name} is left out: {why}')
    return found


SHARP = ('sharp', lambda: Served(subjects.Sharp(), '/redact?region='))
VIPS = ('libvips', lambda: Called('vips'))


def stop(found):
    for subject in found.values():
        subject.stop()


def measure_alone(options):
    found = start(options, (), [SHARP])
    try:
        with tempfile.TemporaryDirectory() as folder:
            done, requests = alone(found, large(pathlib.Path(folder)), REGION, options.runs)
    finally:
        stop(found)
    return ALONE.format(len(subjects.CORES), requests) + done


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--runs', type=int, default=7)
    parser.add_argument('--other', type=pathlib.Path)
    options = parser.parse_args()
    found, rows = start(options, ('--workers', '1'), [SHARP, VIPS]), []
    try:
        with tempfile.TemporaryDirectory() as folder:
            for kind, files in screenshots(pathlib.Path(folder)).items():
                rows.append(row_of(kind, measure(found, files, REGION, options.runs)))
                print(rows[-1], flush=True)
            rows.append(row_of('photographs, 1920x1080, blurred', measure(found, pictures.several(pictures.FULL, 'png'), None, options.runs)))
    finally:
        stop(found)
    others = [name for name in found if name != 'blurd']
    about = '; '.join(f'{name}: {subject.server.about}' for name, subject in found.items() if name != 'blurd')
    report.write_table('screenshots', ABOUT.format(*REGION[2:], SIGMA, about), report.table(['', 'blurd', *others, *(f'bytes of {name}' for name in others)], rows) + measure_alone(options))


if __name__ == '__main__':
    main()
