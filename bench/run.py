#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures blurd and, where they are installed, its peers on the CPU of this machine, and writes
bench/results/MACHINE-cpu.json, with its tables and plot beside it (bench/report.py).

    bench/run.py [--quick] [--rounds N] [--machine NAME] [--only SECTION,...]

`make bench` installs the peers before. Everything is measured in rounds that take all subjects one after
the other, so that a slow minute of the machine hits all of them. --quick: one short round, to see that it
works; no figures to show, they go to build/bench. Sections: sigma png size alone overhead cores errors filters."""

import argparse
import datetime
import io
import json
import math
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time

import numpy
from PIL import Image

import pictures
import report
import subjects

sys.path.insert(0, str(subjects.ROOT / 'tests' / 'http'))

import gaussian  # noqa: E402

SIGMAS = [1, 1.5, 3, 5, 8, 20, 50, 100, 200]
PNG_SIGMAS = [5, 20, 50]
ERROR_SIGMAS = [1.5, 5, 20, 50, 100]
ERROR_SIZE = (1280, 720)
ROUNDS = 3
SLOW_MS = 800  # what takes longer is measured in one round only,
HOPELESS_MS = 3000  # and no larger sigma after what takes this long
ROUNDS_END_S = 660  # no round begins that would probably end later; errors and filters follow
LIBRARIES = ('pipeline', 'opencv', 'vips', 'graphicsmagick')
VARIANTS = {'sharp, optimiseCoding off': ('sharp', '&optimise=0'), 'sharp, PNG rows filtered': ('sharp', '&filter=1'),
            'blurd, effort 0': ('blurd', '&effort=0')}


def say(text):
    print(text, flush=True)


class Bench:
    def __init__(self, quick, rounds):
        self.quick, self.rounds = quick, rounds
        self.began = time.monotonic()
        self.rows = []
        self.running = {}

    def start(self):
        """The subjects that are installed; prints the names of the others."""
        starts = {'blurd': subjects.Blurd, 'sharp': subjects.Sharp, 'pipeline': subjects.Pipeline,
                  **{name: lambda name=name: subjects.Library(name) for name in ('opencv', 'vips', 'graphicsmagick')}}
        for name, make in starts.items():
            try:
                self.running[name] = make()
                say(f'{name}: {self.running[name].about}')
            except (OSError, RuntimeError) as error:
                if name in ('blurd', 'pipeline'):
                    raise
                say(f'{name} is not measured: {error}')

    def stop(self):
        for subject in self.running.values():
            subject.stop()

    # --- cells -----------------------------------------------------------------------------
    def add(self, section, subject, run, **key):
        """run(seconds) gives the result of measure(). An absent subject adds nothing."""
        if VARIANTS.get(subject, (subject,))[0] in self.running:
            self.rows.append({'section': section, 'subject': subject, **key, 'run': run, 'values': []})

    def add_http(self, section, subject, files, sigma, at_once=None, **key):
        name, options = VARIANTS.get(subject, (subject, ''))
        self.add(section, subject, lambda seconds: self.running[name].measure(
            files, sigma, seconds, at_once, options), sigma=sigma, **key)

    def add_library(self, section, subject, files, sigma, **key):
        self.add(section, subject, lambda seconds: self.running[subject].measure(files, sigma, seconds),
                 sigma=sigma, **key)

    def add_all(self, section, http, files, sigma, **key):
        for subject in http:
            self.add_http(section, subject, files, sigma, **key)
        for subject in LIBRARIES:
            self.add_library(section, subject, files, sigma, **key)

    # --- sections ----------------------------------------------------------------------------
    def sigma(self):
        files = pictures.several(pictures.FULL, 'jpeg')
        for sigma in SIGMAS:
            self.add_all('sigma', ['blurd', 'sharp', 'sharp, optimiseCoding off'], files, sigma)

    def png(self):
        files = pictures.several(pictures.FULL, 'png')
        for sigma in PNG_SIGMAS:
            self.add_all('png', ['blurd', 'blurd, effort 0', 'sharp', 'sharp, PNG rows filtered'], files, sigma)

    def size(self):
        for size in pictures.SIZES:
            self.add_all('size', ['blurd', 'sharp'], pictures.large(size, 'jpeg'), 5, width=size[0], height=size[1])

    def alone(self):
        for form, size in (('jpeg', pictures.FULL), ('jpeg', pictures.SIZES[-1]), ('png', pictures.FULL)):
            for subject in ('blurd', 'sharp'):
                self.add_http('alone', subject, pictures.large(size, form), 5, 1,
                              format=form, width=size[0], height=size[1])

    def overhead(self):
        tiny = [pictures.make(subject, pictures.TINY, 'jpeg') for subject in pictures.SCALED]
        for connections in (1, 2 * len(subjects.CORES)):
            self.add_http('overhead', 'blurd', tiny, 1.5, connections, connections=connections)
        self.add_library('overhead', 'pipeline', tiny, 1.5)
        self.add('overhead', 'blurd', lambda seconds: self.running['blurd'].load('/livez', [], math.ceil(seconds), 1),
                 connections=1, what='GET /livez')
        if 'sharp' in self.running:
            self.add_http('overhead', 'sharp', tiny, 1.5, 1, connections=1)

    def cores(self):
        files = pictures.several(pictures.FULL, 'jpeg')
        most = len(subjects.CORES)
        starts = {'blurd': subjects.Blurd}
        if 'sharp' in self.running:
            starts.update({'sharp': subjects.Sharp, 'sharp, cluster': lambda cores: subjects.Sharp(cores, True)})
        for count in [count for count in (1, 2, 4, 8, 16, 32, 64, 128) if count < most] + [most]:
            for subject, start in starts.items():
                self.rows.append({
                    'section': 'cores', 'subject': subject, 'cores': count, 'sigma': 5, 'values': [],
                    'run': lambda seconds, start=start, count=count: self.on_cores(start, count, files, seconds)})

    @staticmethod
    def on_cores(start, count, files, seconds):
        server = start(subjects.CORES[:count])
        try:
            return server.measure(files, 5, seconds, 4 * count)
        finally:
            server.stop()

    # --- running -----------------------------------------------------------------------------
    def hopeless(self, row):
        """Whether a smaller sigma of the same kind took so long that this one is left out."""
        return any(other['values'] and other['values'][0]['cpu_ms'] > HOPELESS_MS and
                   other['sigma'] < row['sigma'] for other in self.rows
                   if other['section'] == row['section'] and other['subject'] == row['subject'])

    def measure(self, row, seconds, progress):
        if 'sigma' in row and self.hopeless(row) or row['values'] and row['values'][0]['cpu_ms'] > SLOW_MS:
            return
        value = row['run'](seconds)
        row['values'].append(value)
        spent = int(time.monotonic() - self.began)
        what = ' '.join(f'{key} {row[key]}' for key in row if key not in ('section', 'subject', 'run', 'values'))
        rate = f', {value["rps"]:.0f} requests/s' if 'rps' in value else ''
        say(f'[{spent // 60:2}:{spent % 60:02} {progress}] {row["section"]}, {what}: {row["subject"]} '
            f'{value["cpu_ms"]:.3f} ms of CPU{rate}')

    def run(self):
        rounds = 1 if self.quick else self.rounds
        http, library = (1, 0.2) if self.quick else (2, 0.6)
        for number in range(rounds):
            begin = time.monotonic()
            for i, row in enumerate(self.rows):
                seconds = library if row['subject'] in LIBRARIES else http
                self.measure(row, seconds, f'{number * len(self.rows) + i + 1}/{rounds * len(self.rows)}')
            now = time.monotonic()
            if number + 1 < rounds and now - self.began + now - begin > ROUNDS_END_S:
                say(f'{number + 1} of {rounds} rounds: another one would take too long')
                break

    def results(self):
        """Rows without the cells that were left out; each value is a list with an entry per round."""
        kept = []
        for row in self.rows:
            key = {name: row[name] for name in row if name not in ('run', 'values')}
            if row['values']:
                kept.append({**key, **{name: [float(f'{value[name]:.5g}') for value in row['values']]
                                       for name in row['values'][0]}})
        return kept


# --- errors against the Gaussian -------------------------------------------------------------
def png_of(bench, subject, picture, sigma):
    """The answer as pixels; None where the subject is absent."""
    if subject not in bench.running:
        return None
    running = bench.running[subject]
    if isinstance(running, subjects.Server):
        content = running.blur(picture, f'sigma={sigma}')
    else:
        with tempfile.TemporaryDirectory() as folder:
            running.job(picture, sigma, 0, keep=pathlib.Path(folder) / 'answer')
            content = (pathlib.Path(folder) / 'answer').read_bytes()
    return numpy.asarray(Image.open(io.BytesIO(content)).convert('RGB'), numpy.float64)


def errors(bench):
    """PNG in and out, against a float64 Gaussian with tails to 6 sigma and repeated edges."""
    rows = []
    files = [pictures.make(subject, ERROR_SIZE, 'png') for subject in list(pictures.SCALED)[:1 if bench.quick else 2]]
    for sigma in ERROR_SIGMAS[1:3] if bench.quick else ERROR_SIGMAS:
        expected = [gaussian.blur(numpy.asarray(Image.open(path).convert('RGB')), sigma) for path in files]
        for subject in ('blurd', 'sharp', 'opencv', 'vips', 'graphicsmagick'):
            answers = [png_of(bench, subject, path, sigma) for path in files]
            if answers[0] is None:
                continue
            off = numpy.concatenate([numpy.abs(a - e).ravel() for a, e in zip(answers, expected)])
            rows.append({'subject': subject, 'sigma': sigma, 'max': round(float(off.max()), 3),
                         'mean': round(float(off.mean()), 4), 'over_1': round(float((off > 1).mean()), 5)})
            say(f'error, sigma {sigma}: {subject} at most {off.max():.2f}, mean {off.mean():.3f}')
    return rows


# --- the machine -------------------------------------------------------------------
def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=subjects.ROOT).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return 'unknown'


def machine():
    cpuinfo = pathlib.Path('/proc/cpuinfo').read_text()
    facts = {key: (re.search(rf'^{key}\s*: (.*)', cpuinfo, re.M) or [None, 'unknown'])[1]
             for key in ('model name', 'cpu family', 'model')}
    system = re.search(r'PRETTY_NAME="([^"]*)"', pathlib.Path('/etc/os-release').read_text())
    vectors = next((name for name in ('avx512', 'avx2', 'sse2', 'asimd') if name in cpuinfo), 'no vectors')
    return {'cpu': f'{facts["model name"]}, family {facts["cpu family"]}, model {facts["model"]}', 'vectors': vectors,
            'cores': len(subjects.CORES),
            'memory_gib': round(os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30),
            'kernel': platform.release(), 'system': system[1] if system else 'unknown',
            'load_before': round(os.getloadavg()[0], 2)}


def machine_name(facts):
    model = re.sub(r'\(r\)|\(tm\)|processor|cpu|@.*|\d+-core|,.*', '', facts['cpu'], flags=re.I)
    return '-'.join([*re.findall(r'[a-z0-9]+', model.lower()), facts['vectors'], f'{facts["cores"]}-cores'])


def versions(bench):
    commit = output_of('git', 'describe', '--always', '--dirty')
    own = output_of(str(subjects.RELEASE / 'blurd'), '--version').splitlines()[0]
    compiler = output_of('cc', '--version').splitlines()[0]
    libraries = ', '.join(sorted(pathlib.Path(path).resolve().name for path in re.findall(
        r'=> (/\S*/lib(?:jpeg|png|z|deflate|microhttpd)\S*)', output_of('ldd', str(subjects.RELEASE / 'blurd')))))
    peers = {name: subject.about for name, subject in bench.running.items() if name not in ('blurd', 'pipeline')}
    return {'blurd': f'{own}, commit {commit}', 'built with': f'{compiler}; {libraries}', **peers}


def as_text(result):
    """JSON with a line for each row."""
    text = json.dumps({**result, 'rows': [], 'errors': []}, indent=1)
    for name in ('rows', 'errors'):
        rows = ',\n  '.join(json.dumps(row) for row in result[name])
        text = text.replace(f'"{name}": []', f'"{name}": [\n  {rows}\n ]')
    return re.sub(r'[ \t]+\n', '\n', text) + '\n'


def main():
    sections = ['sigma', 'png', 'size', 'alone', 'overhead', 'cores', 'errors', 'filters']
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--rounds', type=int, default=ROUNDS)
    parser.add_argument('--machine', help='name of the file of results')
    parser.add_argument('--only', default=','.join(sections), metavar='SECTION,...')
    options = parser.parse_args()
    wanted = options.only.split(',')
    unknown = set(wanted) - set(sections)
    if unknown:
        parser.error(f'no section {", ".join(unknown)}: there are {", ".join(sections)}')
    facts = machine()
    bench = Bench(options.quick, options.rounds)
    say(f'{facts["cpu"]}, {facts["cores"]} cores, load {facts["load_before"]}; pictures: {pictures.about()}')
    if facts['load_before'] > 0.5:
        say('the machine is not idle: times will suffer')
    try:
        bench.start()
        for section in wanted:
            if section not in ('errors', 'filters'):
                getattr(bench, section)()
        bench.run()
        result = {'machine': facts, 'date': datetime.date.today().isoformat(), 'quick': options.quick,
                  'rounds': options.rounds,
                  'pictures': pictures.about(), 'versions': versions(bench), 'rows': bench.results(),
                  'errors': errors(bench) if 'errors' in wanted else [],
                  'filters': output_of(str(subjects.RELEASE / 'bench' / 'filters')) if 'filters' in wanted else ''}
    finally:
        bench.stop()
    result['minutes'] = round((time.monotonic() - bench.began) / 60, 1)
    folder = subjects.ROOT / ('build/bench' if options.quick else 'bench/results')
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f'{options.machine or machine_name(facts)}-cpu.json'
    path.write_text(as_text(result))
    say(f'{len(result["rows"])} rows in {result["minutes"]} minutes: {path}')
    report.write(path)


if __name__ == '__main__':
    main()
