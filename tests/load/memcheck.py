# SPDX-License-Identifier: MIT
"""P3: a request of each kind under valgrind's memcheck."""

import pathlib
import re
import shutil
import tempfile

import daemon
import lab
from torture import ask, kinds

SLOWER = 20
SUMMARY = re.compile(r'ERROR SUMMARY: (\d+) errors from (\d+) contexts')
OPTIONS = ('--gpus', 'none', '--sandbox', 'off', '--workers', 1, '--event-threads', 1, '--work-timeout', '5m', '--queue-target', '1m')


def wanted_of(messages):
    with lab.start() as own:
        return {name: ask(own, message)[0] for name, message in messages.items()}


def memcheck():
    if not shutil.which('valgrind'):
        return 'not run', 'valgrind is not installed'
    messages = kinds()
    wanted = wanted_of(messages)
    # Vector code of libjpeg reads past the bytes that it uses, see tests/check/memcheck.sh.
    environment = daemon.clean_environment(JSIMD_FORCENONE='1')
    with tempfile.TemporaryDirectory(prefix='blurd-memcheck-') as folder:
        log = pathlib.Path(folder, 'log')
        through = ('valgrind', f'--log-file={log}', '--leak-check=full', '--errors-for-leak-kinds=definite', '--error-exitcode=9')
        with lab.start(*OPTIONS, slow=SLOWER, through=through, environment=environment) as own:
            own.may_end_with = (0, 9)
            wrong = [name for name, message in messages.items() if ask(own, message)[0] != wanted[name]]
        text = log.read_text()
    found = [int(number) for number, _ in SUMMARY.findall(text)]
    for line in [*wrong, *(text.splitlines()[:40] if sum(found) else [])]:
        print(f'     {line}')
    measured = f'{len(messages)} kinds of requests, {len(wrong)} with another status than without valgrind: {sum(found)} reports, those of leaks included'
    return measured, len(found) >= 1 and sum(found) == 0 and not wrong


def rows():
    return [lab.Row('P3', 'memory that is read before it is written, used after its end, or lost', 'valgrind: 0 reports over a request of each kind', memcheck)]
