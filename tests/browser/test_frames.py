# SPDX-License-Identifier: MIT
"""Animations and pages: what is sent of them, and what comes back."""

import io

import pytest
from PIL import Image

import pictures
import tiffs


def size_and_frames(content):
    with Image.open(io.BytesIO(content)) as picture:
        return *picture.size, getattr(picture, 'n_frames', 1)


@pytest.mark.parametrize('frames', (1, 3), ids=('still', 'animation'))
@pytest.mark.parametrize('kind', ('webp', 'gif', 'png'))
def test_an_animation_stays_one(page, server, kind, frames):
    """Its frames are filtered, but where the answer is one picture: then the first is."""
    if kind not in server.get('/version').json()['formats']['writes']:
        pytest.skip(f'this build does not write {kind}')
    out = io.BytesIO()
    images = [Image.fromarray(pictures.photograph(40, 30, seed=seed)) for seed in range(1, frames + 1)]
    images[0].save(out, kind, **({'save_all': True, 'append_images': images[1:], 'duration': 100} if frames > 1 else {}))
    page.give('drop', out.getvalue(), f'given.{kind}', f'image/{kind}')
    assert '40 × 30' in page.settled('40 ×')
    assert 'page=0' not in page.command() and f'given-blur.{kind}' in page.command()
    name, content = page.download()
    assert name == f'given-blur.{kind}' and size_and_frames(content) == (40, 30, frames)
    page.set('#output-format', 'jpeg')
    assert '40 × 30 JPEG' in page.settled('JPEG')
    assert ('page=0' in page.command()) == (frames > 1 or kind == 'gif')
    page.set('#output-format', '')
    page.choose('stats')
    page.settled('Statistics')


def test_a_box_hides_in_all_frames(page):
    out = io.BytesIO()
    images = [Image.fromarray(pictures.photograph(80, 60, seed=seed)) for seed in range(3)]
    images[0].save(out, 'png', save_all=True, append_images=images[1:], duration=100)
    page.give('drop', out.getvalue(), 'given.png', 'image/png')
    page.settled('80 ×')
    page.choose('redact')
    page.drag((0.2, 0.2), (0.8, 0.8))
    page.settled('PNG')
    content = page.download()[1]
    with Image.open(io.BytesIO(content)) as picture:
        middles = []
        for i in range(picture.n_frames):
            picture.seek(i)
            middles.append(picture.convert('RGB').getpixel((40, 30)))
    assert middles == [(0, 0, 0)] * 3


def test_a_tiff_is_shown_as_its_first_page(page, server):
    if 'tiff' not in server.get('/version').json()['formats']['reads']:
        pytest.skip('this build does not read TIFF')
    body = tiffs.File().page(pictures.photograph(64, 48)).page(pictures.photograph(20, 10)).write()
    page.give('drop', body, 'scan.tif', 'image/tiff')
    assert '64 × 48 JPEG' in page.settled('64 ×')
    assert 'page=0' in page.command() and 'scan-blur.jpg' in page.command()
    assert page.js('return document.getElementById("before").naturalWidth') == 64


def test_an_answer_that_the_browser_cannot_show_is_shown_as_the_daemon_reads_it(page, server):
    if 'jxl' not in server.get('/version').json()['formats']['writes']:
        pytest.skip('this build does not write JPEG XL')
    page.set('#output-format', 'jxl')
    assert '960 × ' in page.settled('JPEG XL') and 'format=jxl' in page.command()
    assert page.js('return document.getElementById("after").naturalWidth') == 960
    name, content = page.download()
    assert name.endswith('.jxl') and content[:2] in (b'\xff\x0a', b'\0\0')
