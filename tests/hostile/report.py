# SPDX-License-Identifier: MIT
"""Shared by the drivers of check-hostile and check-load: runs, prints and stores rows."""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import time
import traceback

import lab
import pytest


def run_row(row, script):
    begin = time.monotonic()
    try:
        measured, verdict = row.function()
    except pytest.skip.Exception as reason:  # a helper of tests/http names the missing part
        measured, verdict = 'not run', str(reason)
    except Exception as error:
        traceback.print_exc()
        measured, verdict = f'{type(error).__name__}: {str(error)[:200]}', False
    stopped = verdict if isinstance(verdict, str) else ''
    word = 'open' if stopped else 'met' if verdict else 'NOT MET'
    print(f'{row.id:4} {word:8} {row.threat}\n     target   {row.target}\n     measured {measured}', flush=True)
    if stopped:
        print(f'     because  {stopped}', flush=True)
    return {'id': row.id, 'threat': row.threat, 'target': row.target, 'measured': measured, 'verdict': word, 'because': stopped,
            'command': f'{script} {row.id}', 'seconds': round(time.monotonic() - begin, 1)}


def machine():
    model = next((line.split(':')[1].strip() for line in pathlib.Path('/proc/cpuinfo').read_text().splitlines()
                  if line.startswith('model name')), platform.machine())
    commit = subprocess.run(['git', 'rev-parse', '--short', 'HEAD'], cwd=lab.ROOT, capture_output=True, text=True, check=False)
    return {'date': time.strftime('%Y-%m-%d'), 'commit': commit.stdout.strip(), 'processor': model,
            'processors': len(os.sched_getaffinity(0))}


def merged(path, results, rows):
    """All rows in order; rows that did not run now are those of the file."""
    known = {row['id']: row for row in json.loads(path.read_text())['rows']} if path.exists() else {}
    known.update((result['id'], result) for result in results)
    return [known[row.id] for row in rows if row.id in known]


def parser(text, check):
    """Rows and --json; a driver adds its own options."""
    made = argparse.ArgumentParser(description=text.splitlines()[0])
    made.add_argument('rows', nargs='*')
    made.add_argument('--json', type=pathlib.Path, default=lab.ROOT / f'build/{check.removeprefix("check-")}.json')
    return made


def chosen(made, options, rows):
    """The rows that were named, all without."""
    unknown = set(options.rows) - {row.id for row in rows}
    if unknown:
        made.error(f'there is no row {" ".join(sorted(unknown))}')
    return [row for row in rows if not options.rows or row.id in options.rows]


def run(check, script, rows, wanted, path):
    """Runs the requested rows and writes the JSON. Returns whether all kept their promise."""
    results = [run_row(row, script) for row in wanted]
    lab.write_json(path, {'check': check, 'machine': machine(), 'rows': merged(path, results, rows)})
    missed = [result['id'] for result in results if result['verdict'] == 'NOT MET']
    print(f'{len(results)} rows, not met: {" ".join(missed) or "none"}; {path}')
    return not missed
