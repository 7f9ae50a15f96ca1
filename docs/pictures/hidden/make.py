#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the pictures beside this file, which the README shows: an astronaut, photographed by NASA (in the public domain, from scikit-image), a
letter and a car, which are drawn; and what `/redact` makes of each.

    make && config/pypi.sh faces && tests/python.sh docs/pictures/hidden/make.py     BLURD names the program, build/release/blurd"""

import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
sys.path[:0] = [str(ROOT / 'docs/site'), str(ROOT / 'tests/http')]
import drawing  # noqa: E402 pylint: disable=wrong-import-position
import faces  # noqa: E402 pylint: disable=wrong-import-position

PROGRAM = os.environ.get('BLURD') or str(ROOT / 'build/release/blurd')
LINES = ((60, 46, 'Dear Ms Holloway,'), (60, 186, 'we owe you 1289 pounds.'), (60, 326, 'Yours, Peter Quill'))


def main():
    sent = {
        'astronaut': (faces.astronaut().convert('RGB').crop((0, 0, 512, 320)).resize(drawing.SIZE), 'faces'),
        'letter': (drawing.page(*((left, top, line, 34) for left, top, line in LINES)).convert('RGB'), 'text'),
        'car': (drawing.street(), 'plates'),
    }
    for name, (picture, thing) in sent.items():
        picture.save(FOLDER / f'{name}.jpg', quality=85)
        subprocess.run([PROGRAM, '--quiet', f'redact?detect={thing}', FOLDER / f'{name}.jpg', '-o', FOLDER / f'{name}-hidden.jpg'], check=True)


if __name__ == '__main__':
    main()
