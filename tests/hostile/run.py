#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make check-hostile: hostile pictures and clients against daemons of this build, on this machine.

    tests/hostile/run.py [--mutants N] [--fuzz SECONDS] [--json FILE] [ROW]...     rows: I1 P2 H5 …, all without

Prints for each row: id, target, figure, verdict. Rows that are named replace theirs in the JSON. Pictures of
../shared/corpus are used where they are (CORPUS=folder). tests/hostile/table.py makes the table in
docs/security.md from the JSON."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import lab  # noqa: E402
import report  # noqa: E402
import rows_pictures  # noqa: E402, F401, rows register themselves
import rows_privacy  # noqa: E402, F401
import rows_http  # noqa: E402, F401
import rows_sandbox  # noqa: E402, F401
import rows_cost  # noqa: E402, F401
import rows_newer  # noqa: E402, F401
import seams  # noqa: E402, F401


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


def main():
    parser = report.parser(__doc__, 'check-hostile')
    parser.add_argument('--mutants', type=int, default=lab.Options.mutants)
    parser.add_argument('--fuzz', type=int, default=lab.Options.fuzz_seconds)
    parser.add_argument('--seed', type=int, default=lab.Options.seed)
    options = parser.parse_args()
    lab.Options.mutants, lab.Options.fuzz_seconds, lab.Options.seed = options.mutants, options.fuzz, options.seed
    wanted = report.chosen(parser, options, lab.ROWS)
    sys.exit(not report.run('check-hostile', 'tests/hostile/run.py', lab.ROWS, wanted, options.json))


main()
