#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures blurd beside other servers, sharp behind fastify and thumbor, and beside libvips as a library, and writes
bench/results/servers.md.

    bench/peers/install.sh && tests/python.sh bench/servers.py [--rounds N] [--seconds S] [--out FILE]

Each round measures each kind of work with all servers in turn, so that a slow minute of the machine hits all of them. Every server uses
all cores, and is asked over as many connections. Load on the machine beside this program shows in the requests a second of all.
The results are written after each round, so that a run may be ended early."""
import argparse
import datetime
import math
import pathlib
import statistics
import time

import pictures
import report
import run
import subjects

SIGMAS = (1.5, 5, 20)
WIDTH = 400
CONNECTIONS = 4 * len(subjects.CORES)
ABOUT = '''# blurd beside other servers

Pictures of 1920x1080, {pictures}, JPEG 4:2:0 of quality 90 to 4:2:0 of quality 85, PNG to PNG, on {cpu}, {cores} cores; rounds: {rounds}, {seconds:g} s or more of each cell, all servers in
turn, on {date}, load before {load}. A cell has the median of the rounds, and in brackets their least and largest value. CPU is that of all processes of a server, for each picture; `wrk` asks over {connections}
connections on the same cores. `bench/servers.py` measures this.

* blurd, {blurd}: its defaults, but without its log. The picture is the body of a `POST`.
* sharp: {sharp}; as many threads as it has by default. The picture is the body of a `POST`. Its Gaussian ends where it has fallen to 20 %.
* thumbor: {thumbor}, with {cores} processes. It fetches its pictures: here its file loader reads them from the page cache, and no storage keeps them. Baseline JPEGs, where its default is progressive. In *thumbor* the
  Gaussian is `blur(3 sigma,sigma)`; in *thumbor, cut* it is `blur(sigma,sigma)`, which ends at one sigma.
* libvips: {vips}, a library on one thread without HTTP, so that it has no requests a second. Its Gaussian ends where sharp's does.'''


class Work:
    """A kind of work: what each server is asked for."""

    def __init__(self, form, sigma=None):
        self.form, self.sigma = form, sigma
        self.files = pictures.several(pictures.FULL, form)
        self.title = f'{form.upper()}, blur, sigma {sigma}' if sigma else f'{form.upper()}, resize to {WIDTH} wide'

    def posted(self):
        return f'/blur?sigma={self.sigma}' if self.sigma else f'/resize?width={WIDTH}'

    def thumbor(self, cut):
        if not self.sigma:
            return f'/unsafe/{WIDTH}x0/'
        return f'/unsafe/filters:blur({math.ceil(self.sigma * (1 if cut else 3))},{self.sigma})/'

    def all(self):
        """(name, function of servers and seconds) of each server."""
        yield 'blurd', lambda found, seconds: self.post(found['blurd'], seconds)
        yield 'sharp', lambda found, seconds: self.post(found['sharp'], seconds)
        yield 'thumbor', lambda found, seconds: found['thumbor'].get(self.thumbor(False), self.files, seconds, CONNECTIONS)
        if self.sigma:
            yield 'thumbor, cut', lambda found, seconds: found['thumbor'].get(self.thumbor(True), self.files, seconds, CONNECTIONS)
        yield 'libvips', lambda found, seconds: self.call(found['libvips'], seconds)

    def post(self, server, seconds):
        begin = time.monotonic()
        sizes = [len(server.request('POST', self.posted(), path.read_bytes())) for path in self.files]
        least = subjects.least_seconds(time.monotonic() - begin, self.files, CONNECTIONS)
        return {**server.load(self.posted(), self.files, max(seconds, least), CONNECTIONS), 'bytes': statistics.mean(sizes)}

    def call(self, library, seconds):
        done = [library.job(path, self.sigma, seconds / len(self.files), width=None if self.sigma else WIDTH) for path in self.files]
        return {'cpu_ms': statistics.mean(statistics.median(each['ms']) for each in done), 'bytes': statistics.mean(each['bytes'] for each in done)}


def works():
    return [Work(form, sigma) for form in ('jpeg', 'png') for sigma in (*SIGMAS, None)]


def start():
    """The servers that are installed."""
    found = {}
    for name, make in (('blurd', subjects.Blurd), ('sharp', subjects.Sharp), ('thumbor', subjects.Thumbor), ('libvips', lambda: subjects.Library('vips'))):
        try:
            found[name] = make()
        except (OSError, RuntimeError) as why:
            print(f'{name} is left out: {why}')
    return found


def measure(found, rounds, seconds):
    """Yields after each round [(work, name, [what each round gave])]"""
    rows = [(work, name, once, []) for work in works() for name, once in work.all() if name.split(',')[0] in found]
    for number in range(rounds):
        for work, name, once, values in rows:
            values.append(once(found, seconds))
            print(f'round {number + 1}: {work.title}: {name}: {values[-1]["cpu_ms"]:.2f} ms of CPU, {values[-1].get("rps", 0):.1f} requests/s', flush=True)
        yield [(work, name, values) for work, name, _, values in rows]


def spread(values, key):
    """'median (least to largest)'."""
    known = [value[key] for value in values if key in value]
    if not known:
        return '-'
    return f'{report.number(statistics.median(known))} ({report.number(min(known))} to {report.number(max(known))})'


def table(rows):
    own = {work: statistics.median(value['cpu_ms'] for value in values) for work, name, values in rows if name == 'blurd'}
    return report.table(['work', 'server', 'CPU, ms', "to blurd's", 'requests/s', 'kB of a picture', 'kB of an answer'], [
        [work.title, name, spread(values, 'cpu_ms'), f'{statistics.median(value["cpu_ms"] for value in values) / own[work]:.2f}', spread(values, 'rps'),
         report.number(statistics.mean(path.stat().st_size for path in work.files) / 1e3), report.number(values[0]['bytes'] / 1e3)] for work, name, values in rows]).replace('| --- | --:', '| --- | ---', 1)


def about(found, rounds, options, facts):
    known = {name: subject.about for name, subject in found.items()}
    own = run.output_of(str(subjects.RELEASE / 'blurd'), '--version').splitlines()[0]
    absent = 'not installed'
    return ABOUT.format(pictures=pictures.about(), cpu=facts['cpu'], cores=facts['cores'], rounds=rounds, seconds=options.seconds, date=datetime.date.today().isoformat(),
                        load=facts['load_before'], connections=CONNECTIONS, blurd=own, sharp=known.get('sharp', absent), thumbor=known.get('thumbor', absent), vips=known.get('libvips', absent))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=int, default=3)
    parser.add_argument('--out', type=pathlib.Path, default=report.RESULTS / 'servers.md')
    options = parser.parse_args()
    facts = run.machine()
    found = start()
    try:
        for rows in measure(found, options.rounds, options.seconds):
            options.out.write_text(f'{about(found, len(rows[0][2]), options, facts)}\n\n{table(rows)}\n')
    finally:
        for subject in found.values():
            subject.stop()


if __name__ == '__main__':
    main()
