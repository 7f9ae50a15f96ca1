# SPDX-License-Identifier: MIT
"""Pictures with faces, and what the reference finds in them. Tests that need them are skipped without."""

import io
import json
import os
import pathlib

import pytest
from PIL import Image

import daemon

FOLDER = pathlib.Path(os.environ.get('FACES') or daemon.ROOT.parent / 'shared/faces')
MODEL = daemon.ROOT / 'build/face/centerface.face'

needs_model = pytest.mark.skipif(not MODEL.exists(), reason='no face model was built')


def here():
    """The folder with the photographs, next to the clone or one above it."""
    for folder in (FOLDER, daemon.ROOT.parents[1] / 'shared/faces'):
        if (folder / 'reference.json').exists():
            return folder
    return None


needs_photographs = pytest.mark.skipif(not MODEL.exists() or not here(), reason='no face model, or no photographs')


def photograph(name='2008_002470.jpg'):
    return (here() / name).read_bytes()


def reference(least=0.5):
    """Boxes as left, top, right, bottom by name of the file."""
    everything = json.loads((here() / 'reference.json').read_text())
    return {name: [box[:4] for box in page['boxes'] if box[4] >= least] for name, page in everything.items()}


def again(data, form='JPEG', change=lambda picture: picture, **how):
    """The photograph changed and encoded anew."""
    output = io.BytesIO()
    change(Image.open(io.BytesIO(data))).save(output, form, **how)
    return output.getvalue()


def corners(face):
    return (face['x'], face['y'], face['x'] + face['width'], face['y'] + face['height'])


def overlap(a, b):
    """Intersection over union."""
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    both = max(wide, 0) * max(high, 0)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def found(wanted, boxes, least=0.75):
    """How many of the wanted boxes are there."""
    return sum(any(overlap(box, other) >= least for other in boxes) for box in wanted)
