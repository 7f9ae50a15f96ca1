#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes the steps of a job of .github/workflows as shell scripts, 1.sh and so on, as a runner would make them:

    tests/workflows/steps.py FILE JOB FOLDER"""

import pathlib
import re
import sys

import yaml

WORKFLOWS = pathlib.Path(__file__).resolve().parents[2] / '.github/workflows'


def load(name):
    """A workflow; YAML 1.1 reads the key `on` as true."""
    found = yaml.safe_load((WORKFLOWS / name).read_text())
    return {'on' if key is True else key: value for key, value in found.items()}


def expanded(job):
    """(the values of the matrix, the steps) of each run of a job, with what stands in ${{ matrix.NAME }} put in."""
    matrix = job.get('strategy', {}).get('matrix', {})
    rows = matrix.get('include') or [{name: value} for name, values in matrix.items() for value in values] or [{}]
    for row in rows:
        def filled(text, row=row):
            return re.sub(r'\$\{\{ matrix\.(\w+) \}\}', lambda found: str(row[found[1]]), text)
        yield row, [{**step, 'run': filled(step['run']), 'env': {key: filled(value) for key, value in step.get('env', {}).items()}}
                    for step in job['steps']]


def main():
    name, job, folder = sys.argv[1:]
    _, steps = next(expanded(load(name)['jobs'][job]))
    for number, step in enumerate(steps, 1):
        lines = [step['run'].strip(), '']
        assert not step['env'], 'steps with variables of the runner are not run here'
        if 'working-directory' in step:
            lines[0] = f"cd {step['working-directory']} && {lines[0]}"
        (pathlib.Path(folder) / f'{number}.sh').write_text('\n'.join(['cd /job', *lines]))


if __name__ == '__main__':
    main()
