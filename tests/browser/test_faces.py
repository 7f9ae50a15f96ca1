# SPDX-License-Identifier: MIT
"""Faces are found, corrected by hand, and redacted in what is downloaded."""

import numpy
import pytest

import faces
from test_hiding import begin, find, pixels
from test_regions import numbers

pytestmark = faces.needed


def rectangle(text):
    left, top, width, height = numbers(text)
    return left, top, left + width, top + height


def part(x, y):
    return x / 500, y / 332


def test_from_upload_to_download(page, tmp_path):
    begin(page)
    name = 'group.jpg'
    (tmp_path / name).write_bytes(faces.photograph())
    page.upload(tmp_path / name)
    page.until(lambda: page.js('return document.getElementById("before").naturalWidth') == 500)
    find(page, 'faces')
    page.until(lambda: len(page.regions()) == 6, what='boxes of the faces')
    assert '6 places hidden' in page.text('#marked')
    found = [rectangle(text) for text in page.regions()]
    wanted = faces.reference()
    assert faces.found(wanted, found, 0.4) == 6  # they have a margin

    left, top, right, bottom = found[0]
    middle = (left + right) / 2, (top + bottom) / 2
    page.click_at(*part(*middle))
    page.drag(part(*middle), part(middle[0] + 20, middle[1] + 10))
    moved = rectangle(page.regions()[0])
    assert all(abs(a - b) <= 4 for a, b in zip(moved, (left + 20, top + 10, right + 20, bottom + 10)))
    page.find('#delete').click()
    page.until(lambda: len(page.regions()) == 5, what='a box less')
    page.drag(part(10, 10), part(60, 50))
    page.until(lambda: len(page.regions()) == 6, what='a box more')

    page.settled('500 ×')
    before, after = pixels(faces.photograph()), pixels(page.download()[1])
    changed = numpy.abs(before - after).max(axis=2) > 12
    for left, top, right, bottom in map(rectangle, page.regions()):
        assert after[top:bottom, left:right].max() < 8, 'black'
    kept = found[0]
    inside = numpy.zeros(changed.shape, bool)
    for left, top, right, bottom in map(rectangle, page.regions()):
        inside[max(0, top - 20):bottom + 20, max(0, left - 20):right + 20] = True
    assert not changed[~inside].any() and kept not in list(map(rectangle, page.regions()))


@pytest.mark.parametrize('count', (65,))
def test_a_crowd_goes_into_a_list(page, folder, count):
    """The parameter takes 64 regions; more are sent as a list."""
    page.upload(folder / 'photo.jpg')
    page.settled('320 ×')
    for _ in range(count):
        page.js("document.getElementById('add').click()")
    page.settled('320 ×')
    assert len(page.regions()) == count and 'regions=[{"box":' in page.command()
