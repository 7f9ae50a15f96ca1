#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make check-hostile: hostile pictures and clients against daemons of this build, on this machine.

    tests/hostile/run.py [--mutants N] [--fuzz SECONDS] [--json FILE] [ROW]...     rows: I1 P2 H5 …, all without

Prints for each row: id, target, what was measured, verdict. Rows that are named replace theirs in the JSON. Pictures of ../shared/corpus are used where they are (CORPUS=folder).
The JSON is what the table in docs/security.md is made of (tests/hostile/table.py)."""

import argparse
import json
import pathlib
import platform
import subprocess
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import lab  # noqa: E402
import rows_pictures  # noqa: E402, F401, rows register themselves
import rows_privacy  # noqa: E402, F401
import rows_http  # noqa: E402, F401
import rows_sandbox  # noqa: E402, F401


@lab.row('Q3', 'inputs that a fuzzer makes up', '0 crashes, leaks, broken promises in any target')
def fuzz():
    seconds = lab.Options.fuzz_seconds
    if not seconds:
        return 'not run', 'switched off with --fuzz 0'
    done = subprocess.run(['tests/fuzz/run.sh', str(seconds)], cwd=lab.ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 77:
        return 'not run', 'no clang with libFuzzer'
    lines = [line.split() for line in done.stdout.splitlines() if ' inputs, coverage ' in line]
    inputs = sum(int(words[1]) for words in lines if words[1].isdigit())
    broken = [words[0] for words in lines if 'FAILED' in words]
    return f'{len(lines)} targets, {seconds} s each: {inputs} inputs; broken: {" ".join(broken) or "none"}', done.returncode == 0


def run_row(row):
    begin = time.monotonic()
    try:
        measured, verdict = row.function()
    except Exception as error:
        traceback.print_exc()
        measured, verdict = f'{type(error).__name__}: {str(error)[:200]}', False
    stopped = verdict if isinstance(verdict, str) else ''
    word = 'open' if stopped else 'met' if verdict else 'NOT MET'
    print(f'{row.id:4} {word:8} {row.threat}\n     target   {row.target}\n     measured {measured}', flush=True)
    if stopped:
        print(f'     because  {stopped}', flush=True)
    return {'id': row.id, 'threat': row.threat, 'target': row.target, 'measured': measured, 'verdict': word, 'because': stopped,
            'command': f'tests/hostile/run.py {row.id}', 'seconds': round(time.monotonic() - begin, 1)}


def machine():
    model = next((line.split(':')[1].strip() for line in pathlib.Path('/proc/cpuinfo').read_text().splitlines()
                  if line.startswith('model name')), platform.machine())
    commit = subprocess.run(['git', 'rev-parse', '--short', 'HEAD'], cwd=lab.ROOT, capture_output=True, text=True, check=False)
    return {'date': time.strftime('%Y-%m-%d'), 'commit': commit.stdout.strip(), 'processor': model,
            'processors': len(__import__('os').sched_getaffinity(0))}


def merged(path, results):
    """All rows in order: those that did not run now as the file has them."""
    known = {row['id']: row for row in json.loads(path.read_text())['rows']} if path.exists() else {}
    known.update((result['id'], result) for result in results)
    return [known[row.id] for row in lab.ROWS if row.id in known]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('rows', nargs='*')
    parser.add_argument('--mutants', type=int, default=lab.Options.mutants)
    parser.add_argument('--fuzz', type=int, default=lab.Options.fuzz_seconds)
    parser.add_argument('--seed', type=int, default=lab.Options.seed)
    parser.add_argument('--json', type=pathlib.Path, default=lab.ROOT / 'build/hostile.json')
    options = parser.parse_args()
    lab.Options.mutants, lab.Options.fuzz_seconds, lab.Options.seed = options.mutants, options.fuzz, options.seed
    unknown = set(options.rows) - {row.id for row in lab.ROWS}
    if unknown:
        parser.error(f'there is no row {" ".join(sorted(unknown))}')
    results = [run_row(row) for row in lab.ROWS if not options.rows or row.id in options.rows]
    lab.write_json(options.json, {'check': 'check-hostile', 'machine': machine(), 'rows': merged(options.json, results)})
    missed = [result['id'] for result in results if result['verdict'] == 'NOT MET']
    print(f'{len(results)} rows, not met: {" ".join(missed) or "none"}; {options.json}')
    sys.exit(bool(missed))


main()
