#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make check-load: overload, restarts, faults and a short soak on daemons of this build, on this machine.

    tests/load/run.py [--soak SECONDS] [--json FILE] [ROW]...     rows: L5 L7 O3 ..., all without

Prints for each row: id, target, figure, verdict, as check-hostile does, whose code it shares. A module of
this folder has rows(), a list of lab.Row; a row's function returns (figure, verdict). The verdict is True,
False, or a sentence about the obstacle. When all rows ran, the tables in docs/security.md and bench/results are written anew."""

import importlib
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'hostile')]

import lab  # noqa: E402
import report  # noqa: E402
import table  # noqa: E402

# In the order of the table; one that is not there yet is left out.
MODULES = ('overload', 'memory', 'connections', 'torture', 'syscalls', 'soak', 'weather', 'clients', 'limits', 'restarts', 'handover', 'lifecycle', 'keepalive',
           'series', 'scaleout', 'memcheck')


def main():
    parser = report.parser(__doc__, 'check-load')
    parser.add_argument('--soak', type=int, default=60, help='seconds of L7')
    options = parser.parse_args()
    lab.Options.soak_seconds = options.soak
    modules = [importlib.import_module(name) for name in MODULES if (HERE / f'{name}.py').exists()]
    rows = [row for module in modules if hasattr(module, 'rows') for row in module.rows()]
    kept = report.run('check-load', 'tests/load/run.py', rows, report.chosen(parser, options, rows), options.json)
    if not options.rows:
        table.write([options.json])
    sys.exit(not kept)


main()
