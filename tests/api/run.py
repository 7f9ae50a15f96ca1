#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sends the daemon requests that its description allows, and many that it does not: schemathesis with all of
its checks. Before that, two generators make clients of the description, and these are used.

    tests/api/run.py [EXAMPLES]     requests made up for each operation, beside those for each boundary (15)

Needs build/api (config/pypi.sh api); without it the exit status is 77."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGES = ROOT / 'build/api/python'
sys.path[:0] = [str(PACKAGES), str(HERE.parent / 'http')]
TOKEN = 'a-token-for-these-tests-alone'
SEED = '1'


def validate(text):
    from openapi_spec_validator import OpenAPIV31SpecValidator

    problems = list(OpenAPIV31SpecValidator(json.loads(text)).iter_errors())
    for problem in problems:
        print('   ', '/'.join(map(str, problem.path)), problem.message[:200])
    return not problems


def examine(url, examples, folder):
    environment = {**os.environ, 'PYTHONPATH': str(PACKAGES), 'SCHEMATHESIS_HOOKS': str(HERE / 'hooks.py')}
    command = [sys.executable, '-m', 'schemathesis.cli', '--config-file', str(HERE / 'schemathesis.toml'), 'run', url,
               '--header', f'Authorization: Bearer {TOKEN}', '--checks', 'all', '--seed', SEED, '--max-examples', str(examples),
               '--continue-on-failure', '--max-response-time', '10']
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, timeout=600, check=False)
    lines = (done.stdout + done.stderr).decode('utf-8', 'replace').splitlines()
    for line in lines if done.returncode else [line for line in lines if 'generated' in line or 'issues' in line]:
        print('   ', line[:400])  # requests to repeat hold pictures
    return done.returncode == 0


def main():
    if not PACKAGES.is_dir():
        print('api: no schemathesis in build/api; config/pypi.sh api gets it')
        return 77
    import clients
    import daemon
    import evidence

    examples = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory() as folder:
        tokens = pathlib.Path(folder) / 'tokens'
        tokens.write_text(TOKEN + '\n')
        tokens.chmod(0o600)
        with daemon.Daemon('--token-file', tokens, '--report-key', evidence.make_key(pathlib.Path(folder), 'tests')) as running:
            valid = validate(running.get('/openapi.json').text)
            print('api: the description is', 'valid' if valid else 'NOT valid', flush=True)
            usable = valid and clients.check(running, TOKEN, pathlib.Path(folder), PACKAGES)
            print('api: the clients of two generators', 'work' if usable else 'do NOT work', flush=True)
            return 0 if usable and examine(running.url('/openapi.json'), examples, folder) else 1


if __name__ == '__main__':
    sys.exit(main())
