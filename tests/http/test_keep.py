# SPDX-License-Identifier: MIT
"""`keep`: what a detector finds in these rectangles stays, and all else of it is hidden."""

import io
import json

import numpy
import pytest
from PIL import Image

import fake_gpu
import faces
import pictures
import writing
from problems import check_problem
from test_multipart import form

TARGET = '/crop?width=100%25&height=100%25&mode=redact&detect=text&fill=ff0000&format=png'  # nothing but redaction
MULTIPART = {'Content-Type': 'multipart/form-data; boundary=simple'}
pytestmark = writing.needed


def pixels(body):
    return numpy.asarray(Image.open(io.BytesIO(body)).convert('RGB')).astype(int)


def hidden(before, after):
    return (before != after).any(axis=2)


def inside(shape, left, top, width, height):
    mask = numpy.zeros(shape, bool)
    mask[top:top + height, left:left + width] = True
    return mask


@pytest.fixture(scope='module')
def page():
    return writing.png(writing.letter()[0])


@pytest.mark.parametrize('fill', ('ff0000', 'ring', 'mean'))
@pytest.mark.parametrize('rectangles', (((0, 0, 300, 70),), ((40, 50, 60, 7), (45, 52, 200, 3), (200, 0, 1, 200)), ((0, 0, 1, 1),)))
def test_pixels(server, page, fill, rectangles):
    """What is hidden is what is found, less what is kept, to the pixel."""
    target = TARGET.replace('ff0000', fill)
    query = ''.join('&keep=' + ','.join(map(str, rectangle)) for rectangle in rectangles)
    answer = server.post(target + query, page)
    assert answer.status_code == 200, answer.text
    before, all_of_it, some = pixels(page), pixels(server.post(TARGET, page).content), pixels(answer.content)
    kept = numpy.zeros(before.shape[:2], bool)
    for rectangle in rectangles:
        kept |= inside(kept.shape, *rectangle)
    found = (all_of_it != before).any(axis=2)
    assert (some == before)[kept].all() and found.any()
    if fill == 'ff0000':
        assert (hidden(before, some) == (found & ~kept)).all()
        assert (some == all_of_it)[~kept].all()
    else:
        ink = before.mean(axis=2) < 120
        assert (some.mean(axis=2) > 120)[ink & ~kept].all()


def test_units(server, page):
    width, height = Image.open(io.BytesIO(page)).size
    plain = server.post(f'{TARGET}&keep=0,0,{width // 2},{height // 2}', page).content
    for query in (f'unit=percent&keep=0,0,{100 * (width // 2) / width},{100 * (height // 2) / height}', f'keep=0,0,{100 * (width // 2) / width}%25,{height // 2}'):
        assert server.post(f'{TARGET}&{query}', page).content == plain
    entries = [{'corners': [0, 0, width // 2, height // 2], 'keep': True}]
    answer = server.post(TARGET, form(('image"; filename="p', page), ('regions', json.dumps(entries))), headers=MULTIPART)
    assert answer.status_code == 200 and answer.content == plain
    ratio = {'unit': 'ratio', 'regions': [{'box': [0, 0, width // 2 / width, height // 2 / height], 'keep': True}]}
    assert server.post(TARGET, form(('image"; filename="p', page), ('regions', json.dumps(ratio))), headers=MULTIPART).content == plain


@pytest.mark.parametrize('orientation', range(1, 9))
def test_orientations(server, page, orientation):
    """Places are those of the upright picture."""
    upright = numpy.asarray(Image.open(io.BytesIO(page)).convert('RGB'))
    wanted = server.post(f'{TARGET}&keep=30,40,101,33', page).content
    turned = pictures.png(pictures.stored_as(upright, orientation), before=[('eXIf', pictures.exif(orientation))])
    assert (pixels(server.post(f'{TARGET}&keep=30,40,101,33', turned).content) == pixels(wanted)).all()


def test_regions_of_the_request_win(server, page):
    """`keep` is about what is found; a region that the client gives is hidden, also there."""
    before = pixels(page)
    after = pixels(server.post(f'{TARGET}&keep=0,0,200,100&region=10,10,20,30', page).content)
    assert hidden(before, after)[10:40, 10:30].all() and not hidden(before, after)[:10, :200].any()


def test_all_is_kept(server, page):
    """Nothing is hidden, which redaction refuses unless it is told not to."""
    check_problem(server.post(f'{TARGET}&keep=0,0,100%25,100%25', page), 'no-region', 'detect', 'nothing was found but what keep or except leaves out')
    answer = server.post(f'{TARGET}&keep=0,0,100%25,100%25&require=false', page)
    assert answer.status_code == 200 and answer.headers['X-Regions'] == '0' and (pixels(answer.content) == pixels(page)).all()


def test_off_the_picture(server, page):
    """A kept rectangle may lie beyond the picture, whose size may not be known."""
    assert server.post(f'{TARGET}&keep=100000,0,10,10', page).content == server.post(TARGET, page).content
    width, height = Image.open(io.BytesIO(page)).size
    assert server.post(f'{TARGET}&detect_margin=200&keep=0,0,{width - 1},{height - 1}', page).status_code == 200


def test_refusals(server, page):
    check_problem(server.post('/blur?keep=1,2,3,4', page), 'bad-parameter', 'keep', 'keep needs detect')
    check_problem(server.post(f'{TARGET}&keep=ellipse:1,2,3,4', page), 'bad-parameter', 'keep', 'it must be x,y,w,h')
    check_problem(server.post(f'{TARGET}&unit=ratio&keep=1,2,3,4', page), 'bad-parameter', 'keep', 'from 0 to 1')
    check_problem(server.post(TARGET + '&keep=1,2,3,4' * 65, page), 'bad-parameter', 'keep')
    entries = json.dumps([{'box': [1, 2, 3, 4], 'keep': True}])
    check_problem(server.post('/blur', form(('image"; filename="p', page), ('regions', entries)), headers=MULTIPART), 'bad-parameter', 'keep', 'keep needs detect')


@faces.needed
def test_faces(server):
    """An ellipse that is touched becomes its box; others stay ellipses."""
    body = writing.png(faces.composed((500, 332), faces.PLACES))
    found = server.post('/detect', body).json()['faces']
    left, top, width, height = (int(found[0][name]) for name in ('x', 'y', 'width', 'height'))
    target = TARGET.replace('text', 'faces')
    before, plain, kept = pixels(body), pixels(server.post(target, body).content), pixels(server.post(f'{target}&keep={left},{top},{width},{height // 2}', body).content)
    assert (kept == before)[top:top + height // 2, left:left + width].all()
    assert hidden(before, kept)[top + height // 2:top + height, left:left + width].mean() > 0.99
    others = ~inside(kept.shape[:2], left - width, max(0, top - height), 3 * width, 3 * height)
    assert (kept == plain)[others].all()


@fake_gpu.needed
def test_the_same_on_a_gpu(server, start, page):
    """Also in a JPEG, where whole blocks are hidden."""
    daemon = fake_gpu.launch(start, '--text-model', writing.MODEL, '--gpu-timeout', '60s', '--work-timeout', '2m')
    jpeg = faces.encoded(Image.open(io.BytesIO(page)).convert('RGB'), quality=90)
    for body in (page, jpeg):
        for query in ('', '&fill=ring', '&feather=6'):
            target = f'/pixelate?block=8&mode=redact&detect=text&keep=0,30,200,70{query}'
            ours, other = daemon.post(target, body), server.post(target, body)
            assert ours.status_code == 200 and ours.headers['X-Backend'].startswith('cuda') and ours.content == other.content
    daemon.stop()
