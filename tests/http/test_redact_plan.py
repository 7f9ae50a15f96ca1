# SPDX-License-Identifier: MIT
"""plan=true: what would be hidden, as a list that the second request carries back."""

import itertools
import json

import numpy
import pytest
from PIL import Image

import anatomy
import daemon
import faces
import pictures
import writing
from problems import check_problem
from test_multipart import form

MULTIPART = {'Content-Type': 'multipart/form-data; boundary=simple'}


def scene():
    picture = Image.new('RGB', (640, 560), (250, 250, 247))
    picture.paste(writing.letter(20, size=(640, 220))[0], (0, 0))
    picture.paste(faces.composed((500, 332), faces.PLACES), (0, 222))
    return picture


def redact_with(server, body, plan, query='', **more):
    plan = plan if isinstance(plan, (bytes, str)) else json.dumps(plan)
    parts = [('image"; filename="p', body), ('regions', plan), *((name, data) for name, data in more.items())]
    return server.post(f'/redact?{query}', form(*parts), headers=MULTIPART)


def files():
    """Kinds of pictures, which are searched and redacted in other ways."""
    picture = scene()
    pixels = numpy.asarray(picture)
    yield 'png', writing.png(picture)
    for subsampling in ('420', '422', '444'):
        yield subsampling, pictures.jpeg(pixels, 92, subsampling=subsampling)
    yield 'progressive', pictures.jpeg(pixels, 92, progressive=True)
    for orientation in (3, 6, 7):
        turned = pictures.jpeg(pictures.stored_as(pixels, orientation), 92, subsampling='420')
        yield f'orientation {orientation}', pictures.with_segments(turned, pictures.exif_segment(orientation, extras=False))
    yield 'rgba', pictures.png(numpy.dstack((pixels, numpy.where(numpy.arange(640) % 97 < 3, 9, 255) * numpy.ones((560, 1), int))).astype(numpy.uint8))


@writing.needed
@faces.needed
@pytest.mark.parametrize('query', ('detect=faces,text', 'detect=faces&region=3%25,5%25,20%25,10%25&region=ellipse:500,50,90.5,61',
                                   'detect=text&keep=0,0,100%25,60', 'detect=faces,text&except=0,0,50%25,100%25', 'detect=faces,text&detect_margin=7.3&detect_grid=5&detect_shape=box',
                                   'detect=faces&region=polygon:0,0,100,7,33.3,90&invert=true', 'detect=text&detect_threshold=0.8',
                                   'detect=faces,text&detect_effort=high'))
def test_the_list_hides_what_one_request_does(server, query):
    """To the byte, of each kind of picture, with sanitizers of two: the list has all digits, and clears what is transparent, too."""
    for name, body in itertools.islice(files(), 2 if daemon.SANITIZED else None):
        at_once = server.post(f'/redact?{query}', body)
        plan = server.post(f'/redact?plan=true&{query}', body)
        assert plan.status_code == 200 and plan.headers['Content-Type'] == 'application/json', plan.text
        answer = redact_with(server, body, plan.content)
        assert answer.status_code == 200 and answer.content == at_once.content, (name, answer.text[:300])
        assert plan.json()['clear_transparent'] is True


@writing.needed
@faces.needed
def test_what_the_list_says(server):
    body = writing.png(scene())
    plan = server.post('/redact?plan=true&detect=faces,text&region=5,6,70,80', body).json()
    found = server.post('/detect?detect=faces,text', body).json()
    assert set(plan) == {'width', 'height', 'sha256', 'clear_transparent', 'invert', 'planes', 'regions', 'doubtful'}
    assert (plan['width'], plan['height']) == (640, 560)
    assert plan['regions'][0] == {'x': 5, 'y': 6, 'width': 70, 'height': 80, 'origin': 'region'}
    assert [entry['label'] for entry in plan['regions'][1:]].count('face') == len(found['faces']) == 6
    assert all(entry['origin'] == 'found' and entry['score'] >= (.3 if entry['label'] == 'face' else .6) for entry in plan['regions'][1:])
    assert all(entry['score'] < (.3 if entry['label'] == 'face' else .6) for entry in plan['doubtful'])


@faces.needed
def test_doubtful_ones(server):
    """Those that a lower threshold finds, and no others; none of them is hidden until somebody moves it."""
    body = faces.encoded(faces.composed((500, 332), faces.PLACES))
    scores = sorted(box['score'] for box in server.post('/detect', body).json()['faces'])
    between = (scores[2] + scores[3]) / 2
    plan = server.post(f'/redact?plan=true&detect=faces&detect_threshold={between}', body).json()
    assert [len(plan['regions']), len(plan['doubtful'])] == [3, 3]
    assert sorted(round(entry['score'], 3) for entry in plan['doubtful']) == [round(score, 3) for score in scores[:3]]
    some = redact_with(server, body, plan).content
    assert some == server.post(f'/redact?detect=faces&detect_threshold={between}', body).content
    plan['regions'] += plan.pop('doubtful')
    assert redact_with(server, body, plan).content == server.post('/redact?detect=faces', body).content != some


@faces.needed
def test_another_picture_is_refused(server):
    body = faces.encoded(faces.composed((500, 332), faces.PLACES))
    plan = server.post('/redact?plan=true&detect=faces', body).json()
    for other in (body[:-2] + b'\0\xff\xd9', pictures.jpeg(pictures.photograph(500, 332))):
        check_problem(redact_with(server, other, plan), 'bad-parameter', 'regions', 'the list is for another picture')
    check_problem(server.post('/blur', form(('image"; filename="p', body[:-2] + b'\0\xff\xd9'), ('regions', json.dumps(plan))), headers=MULTIPART),
                  'bad-parameter', 'regions', 'another picture')
    del plan['sha256']
    assert redact_with(server, body[:-2] + b'\0\xff\xd9', plan).status_code == 200


@faces.needed
def test_nothing_found_is_an_answer(server):
    plan = server.post('/redact?plan=true&detect=faces', pictures.png(pictures.photograph(300, 200)))
    assert plan.status_code == 200 and plan.json()['regions'] == [], plan.text
    check_problem(server.post('/redact?plan=true&detect=faces&require=true', pictures.png(pictures.photograph(300, 200))), 'no-region', 'detect')


@faces.needed
@pytest.mark.parametrize('target, parameter, says', (
    ('/redact?plan=true&region=1,2,30,40', 'plan', 'plan needs detect'),
    ('/redact?plan=true&report=true&detect=faces', 'report', 'a plan hides nothing'),
    ('/blur?plan=true&detect=faces', 'plan', 'unknown parameter'),
    ('/redact?plan=maybe&detect=faces', 'plan', 'plan is '),
))
def test_refusals(server, target, parameter, says):
    check_problem(server.post(target, pictures.png(pictures.photograph(100, 80))), 'bad-parameter', parameter, says)


@pytest.mark.parametrize('text, says', (
    ('{"sha256": "abc", "regions": []}', 'sha256 must be 64 digits'),
    ('{"sha256": "%s", "regions": []}' % ('G' * 64), 'sha256 must be 64 digits'),
    ('{"sha256": "%s0", "regions": []}' % ('a' * 64), 'sha256 must be 64 digits'),
    ('{"sha256": 5, "regions": []}', 'sha256 must be 64 digits'),
    ('{"clear_transparent": 1, "regions": []}', 'clear_transparent must be true or false'),
    ('{"invert": 0, "regions": []}', 'invert must be true or false'),
    ('{"planes": "", "regions": []}', 'planes must be true or false'),
    ('{"doubtful": [}, "regions": []}', 'there is no valid JSON'),
    ('{"doubtful": []}', 'the array "regions" is missing'),
    ('{"sha256": "%s", "regions": [{"box": [1, 2, 30, 40]}]}' % ('0' * 64), 'another picture'),
))
def test_lists(server, text, says):
    check_problem(redact_with(server, pictures.png(pictures.photograph(100, 80)), text), 'bad-parameter', 'regions', says)


def test_transparent_pixels(server):
    """A list that says so clears their colours without a search, and one that does not leaves them."""
    pixels = numpy.dstack((pictures.photograph(100, 80), numpy.full((80, 100), 7))).astype(numpy.uint8)
    for clear in (True, False):
        answer = redact_with(server, pictures.png(pixels), {'clear_transparent': clear, 'regions': [{'box': [0, 0, 10, 10]}]})
        colours = anatomy.pixels(answer.content)[20:, 20:, :3]
        assert (colours == 0).all() == clear
