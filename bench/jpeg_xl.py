#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures JPEG XL and AVIF at equal SSIMULACRA2, and writes bench/results/jpeg-xl.md.

    bench/peers/install.sh && tests/python.sh bench/jpeg_xl.py [--rounds N] [--size WIDTHxHEIGHT] [--photos N]

Each answer is compared with the PNG of the same request by SSIMULACRA2 (the Python package of that name). The score to reach is that of
a JPEG of quality 85, the default. Bytes and the quality are interpolated between answers of several qualities; then CPU time is
measured with that quality, of a whole request for a JPEG of 1920x1080, of all processes, also of those that ended: a codec's process does
when it has grown. sharp takes part if it is installed. --size is for the scores, which take seconds a picture."""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'build/bench/python'))  # of bench/peers/install.sh

import numpy  # noqa: E402
import ssimulacra2  # noqa: E402

import pictures  # noqa: E402
import report  # noqa: E402
import subjects  # noqa: E402

SIGMA = 0.3  # hardly a blur: what is measured is the encoder
QUALITIES = (50, 70, 85, 95)
ABOUT = '''# JPEG XL and AVIF at equal SSIMULACRA2

{photos} {kind} of {width}x{height}, JPEG in, over HTTP. Each row has the quality whose mean SSIMULACRA2 is {score:.1f}, that of a JPEG of quality 85;
bytes are those of that JPEG times the figure. CPU milliseconds of a core are those of a whole request of 1920x1080. `bench/jpeg_xl.py` measures this.'''
ROWS = {'JPEG': 'format=jpeg', 'JPEG XL, effort 1 (default): a JPEG coded anew': 'format=jxl&effort=1'}
ROWS |= {f'JPEG XL, effort {effort}: libjxl with losses': f'format=jxl&effort={effort}' for effort in (3, 5, 7, 9)}
ROWS |= {f'AVIF, effort {effort}': f'format=avif&effort={effort}' for effort in (0, 1, 3)}
READERS = {'jxl': ('djxl', '--quiet'), 'avif': ('avifdec', '--png-compress', '0')}


def score(content, form, wanted):
    """SSIMULACRA2 of a file against a PNG."""
    with tempfile.TemporaryDirectory() as folder:
        first, file, shown = (pathlib.Path(folder, name) for name in ('first.png', f'answer.{form}', 'shown.png'))
        first.write_bytes(wanted)
        file.write_bytes(content)
        if form in READERS:
            subprocess.run([*READERS[form], file, shown], check=True, capture_output=True)
        return ssimulacra2.compute_ssimulacra2(str(first), str(shown if form in READERS else file))


class Curve:
    """Mean score and bytes by quality."""

    def __init__(self, server, files, query):
        form = query.split('=')[1].split('&')[0]
        wanted = [server.blur(path, f'sigma={SIGMA}&format=png') for path in files]
        self.points = []
        for quality in QUALITIES:
            answers = [server.blur(path, f'sigma={SIGMA}&{query}&quality={quality}') for path in files]
            self.points.append((statistics.mean(score(answer, form, png) for answer, png in zip(answers, wanted)),
                                statistics.mean(map(len, answers))))

    def at(self, wanted):
        """(quality, bytes) of that score."""
        scores, sizes = zip(*self.points)
        return numpy.interp(wanted, scores, QUALITIES), numpy.exp(numpy.interp(wanted, scores, numpy.log(sizes)))


def spent_ms(process):
    """CPU time of a process, its descendants, and those that they have waited for."""
    total, found = 0, [process]
    for one in found:
        try:
            total += sum(map(int, pathlib.Path(f'/proc/{one}/stat').read_text().rsplit(')', 1)[1].split()[11:15]))
            for children in pathlib.Path(f'/proc/{one}/task').glob('*/children'):
                found += map(int, children.read_text().split())
        except OSError:
            pass  # ended meanwhile
    return 1000 * total / os.sysconf('SC_CLK_TCK')


def cpu_ms(server, query, rounds):
    files = pictures.several(pictures.FULL, 'jpeg')
    for path in files:
        server.blur(path, query)  # warms up
    before = spent_ms(server.process.pid)
    for _ in range(rounds):
        for path in files:
            server.blur(path, query)
    return (spent_ms(server.process.pid) - before) / rounds / len(files)


def rows_of(server, files, rows, target, jpeg_bytes, rounds):
    for name, query in rows.items():
        quality, size = Curve(server, files, query).at(target)
        cpu = cpu_ms(server, f'sigma={SIGMA}&{query}&quality={round(quality)}', rounds)
        print(name, round(quality), cpu, size / jpeg_bytes, flush=True)
        yield [name, round(quality), report.number(cpu), f'{size / jpeg_bytes:.3f}']


def sharp_rows(files, options, *more):
    try:
        sharp = subjects.Sharp()
    except Exception as missing:  # noqa: BLE001, whatever keeps it from starting
        print(f'without sharp: {missing}', file=sys.stderr)
        return []
    try:
        return list(rows_of(sharp, files, {'AVIF by sharp': 'format=avif'}, *more, options.rounds))
    finally:
        sharp.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--rounds', type=int, default=4)
    parser.add_argument('--size', default='1920x1080')
    parser.add_argument('--photos', type=int, default=4)
    options = parser.parse_args()
    size = tuple(map(int, options.size.split('x')))
    files = pictures.several(size, 'jpeg')[:options.photos]
    blurd = subjects.Blurd(options=['--work-timeout', '2m'])
    try:
        jpeg = Curve(blurd, files, 'format=jpeg')
        target, jpeg_bytes = jpeg.points[QUALITIES.index(85)]
        rows = list(rows_of(blurd, files, ROWS, target, jpeg_bytes, options.rounds))
    finally:
        blurd.stop()
    rows += sharp_rows(files, options, target, jpeg_bytes)
    about = ABOUT.format(photos=len(files), kind=pictures.about(), width=size[0], height=size[1], score=target)
    report.write_table('jpeg-xl', about, report.table(['', 'quality', 'CPU ms', 'bytes'], rows))


if __name__ == '__main__':
    main()
