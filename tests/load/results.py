# SPDX-License-Identifier: MIT
"""Shared by the files of check-load: they name their rows with `lab.row`, and give the results as dicts
{id, against, promise, figure, verdict, because}."""

import pathlib
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'hostile'))

import lab  # noqa: E402


def results(names):
    """Runs the rows of those names, one after the other."""
    for row in [row for row in lab.ROWS if row.id in names]:
        try:
            figure, verdict = row.function()
        except Exception as error:
            traceback.print_exc()
            figure, verdict = f'{type(error).__name__}: {str(error)[:200]}', False
        because = verdict if isinstance(verdict, str) else ''
        yield {'id': row.id, 'against': row.threat, 'promise': row.target, 'figure': figure,
               'verdict': 'open' if because else 'met' if verdict else 'NOT MET', 'because': because}


def report(rows):
    """One line a row; the exit status is 1 when a promise is not met."""
    missed = 0
    for row in rows:
        missed += row['verdict'] == 'NOT MET'
        print(f"{row['id']:4} {row['verdict']:8} {row['against']}: {row['promise']}\n              {row['figure']}", flush=True)
        if row['because']:
            print(f"              because {row['because']}", flush=True)
    sys.exit(bool(missed))
