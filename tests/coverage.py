#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make coverage: lines and branches of our own code that the tests reach.

    tests/coverage.py                         of each file of the parser of parameters and options, by its own tests
    tests/coverage.py --all [--http PATTERN]  of each file, by all unit tests and the HTTP tests that PATTERN names (all)

Runs what build/coverage holds, the fuzz targets over their seeds included. A branch counts when it was taken at
least once."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / 'build/coverage'
FOLDERS = ('codecs', 'config', 'core', 'cpu', 'filters', 'gpu', 'server')
# The files that turn a client's text into numbers.
PARSER = ('server/message/parameters.c', 'server/message/query.c', 'server/message/operations.c', 'filters/argument/value.c', 'filters/argument/region.c', 'filters/argument/matrix.c', 'config/config.c',
          'config/file.c', 'config/option.c')
PARSER_TESTS = ('test_config', 'test_config_print', 'test_filter', 'test_multipart', 'test_option', 'test_parameters', 'test_query', 'test_region')
HTTP_TESTS = 'test_parameters or test_refusals or test_start'
PATIENCE = 300  # seconds for a program
SUMMARY = re.compile(r"File '([^']+)'\nLines executed:([\d.]+)% of (\d+)\n(?:Branches executed:[^\n]*\nTaken at least once:([\d.]+)% of (\d+)\n)?")


def run(command, **more):
    """Tests that fail are reported by others; here they only cover less."""
    try:
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=PATIENCE, **more)
    except subprocess.TimeoutExpired:
        print(f"stopped after {PATIENCE} s: {command[0]}", flush=True)


def programs(folder):
    return [path for path in sorted((BUILD / folder).iterdir()) if path.is_file() and os.access(path, os.X_OK)]


def exercise(all_tests, pattern):
    for old in BUILD.rglob('*.gcda'):
        old.unlink()
    for program in programs('tests/unit') + programs('tests/filters'):
        if all_tests or program.name in PARSER_TESTS:
            run([program])
    with tempfile.TemporaryDirectory() as seeds:
        run([sys.executable, 'tests/fuzz/seeds.py', seeds])
        for target in ('query', 'config', 'multipart'):
            run([BUILD / 'tests/fuzz' / target, f'{seeds}/{target}'])
    environment = {**os.environ, 'BLURD': str(BUILD / 'blurd'), 'BLURD_SLOW': '2', 'PYTHONDONTWRITEBYTECODE': '1'}
    run([sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-k', pattern, 'tests/http'], env=environment)


def figures():
    """file -> (lines hit, lines, branches hit, branches)"""
    found = {}
    for folder in FOLDERS:
        data = sorted(str(path) for path in (BUILD / folder).glob('*.gcda'))
        with tempfile.TemporaryDirectory() as scratch:
            out = subprocess.run(['gcov', '-b', '-c', '-r', '-s', str(ROOT), *data], cwd=scratch, capture_output=True, text=True, check=False).stdout
        for name, lines, line_count, branches, branch_count in SUMMARY.findall(out):
            if name.endswith('.c') and not name.startswith('/'):
                counts = int(line_count), int(branch_count or 0)
                found[name] = (round(float(lines) * counts[0] / 100), counts[0], round(float(branches or 0) * counts[1] / 100), counts[1])
    return found


def total(name, rows):
    sums = [sum(column) for column in zip(*rows)]
    text = f'lines {100 * sums[0] / sums[1]:5.1f} % of {sums[1]:5}, branches {100 * sums[2] / max(1, sums[3]):5.1f} % of {sums[3]:5}'
    print(f'{name:28} {text}', flush=True)
    return sums


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--http', help='which HTTP tests, as for pytest -k')
    parser.add_argument('--all', action='store_true', help='every file, not the parser alone')
    options = parser.parse_args()
    exercise(options.all, options.http or ('test' if options.all else HTTP_TESTS))
    found = figures()
    shown = sorted(found) if options.all else [name for name in PARSER if name in found]
    for name in shown:
        total(name, [found[name]])
    sums = total('the parser', [found[name] for name in PARSER if name in found])
    (BUILD / 'parser.txt').write_text(f'{100 * sums[2] / sums[3]:.1f} % of {sums[3]} branches\n')  # for row H7 of check-hostile
    if options.all:
        total('all of it', list(found.values()))


main()
