# SPDX-License-Identifier: MIT
"""Plates are searched for with text in one pass, and what is found is that of separate searches. Any weights
will do for that."""

import numpy
import pytest
from PIL import Image

import pictures
import writing
from problems import check_problem

pytestmark = writing.needed
LOW = 'detect_threshold=plates:0.05,text:0.6' # with any weights there are boxes then


def noisy(width=400, height=300):
    """Letters on many tones."""
    letter, _ = writing.letter(24, size=(width, height))
    noise = numpy.random.default_rng(5).integers(0, 120, (height, width, 3))
    return writing.png(Image.fromarray(numpy.clip(numpy.asarray(letter).astype(int) - noise, 0, 255).astype(numpy.uint8)))


def found(server, body, query):
    answer = server.post(f'/detect?{query}', body)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize('query', (LOW, LOW + '&detect_size=200', LOW + '&detect_grid=8&detect_margin=10'))
def test_together_is_as_apart(server, query):
    body = noisy()
    both = found(server, body, f'detect=text,plates&{query}')
    for name in ('text', 'plates'):
        alone = found(server, body, f'detect={name}&{query}'.replace('plates:0.05,text:0.6', {'text': '0.6', 'plates': '0.05'}[name]))
        assert both[name] == alone[name]
    assert list(both) == ['width', 'height', 'text', 'plates'] and both['text']
    for box in both['plates']:
        assert set(box) == {'x', 'y', 'width', 'height', 'score'}
        left, top, right, bottom = writing.corners(box)
        assert 0 <= left < right <= 400 and 0 <= top < bottom <= 304 and 0.05 <= box['score'] <= 1
    scores = [box['score'] for box in both['plates']]
    assert scores == sorted(scores, reverse=True)


def test_all_detectors(server):
    body = noisy()
    page = found(server, body, f'detect=faces,text,codes,plates&{LOW}')
    assert list(page) == ['width', 'height', 'faces', 'text', 'codes', 'plates']
    assert page['plates'] == found(server, body, 'detect=plates&detect_threshold=0.05')['plates']


def test_thresholds(server):
    """A number with a name is that detector's alone."""
    body = noisy()
    usual = found(server, body, 'detect=text,plates')
    assert usual == found(server, body, 'detect=text,plates&detect_threshold=text:0.6,plates:0.5')
    low = found(server, body, 'detect=text,plates&detect_threshold=plates:0.05')
    assert low['text'] == usual['text'] and len(low['plates']) >= len(usual['plates'])
    assert low == found(server, body, 'detect=text,plates&detect_threshold=0.05,text:0.6')
    high = found(server, body, 'detect=text,plates&detect_threshold=text:0.95')
    assert high['plates'] == usual['plates'] and len(high['text']) <= len(usual['text'])


def test_high_effort_is_for_plates_alone(server):
    body = noisy()
    usual, high = (found(server, body, f'detect=text,plates&{LOW}{more}') for more in ('', '&detect_effort=high'))
    assert high['text'] == usual['text']
    assert all(box in high['plates'] for box in usual['plates'])
    assert high['plates'] == found(server, body, 'detect=plates&detect_threshold=0.05&detect_effort=high')['plates']


def test_regions_of_boxes(server):
    """With the margin, on the grid; `keep` leaves out what lies in it."""
    body = noisy()
    answer = server.post(f'/redact?detect=text,plates&{LOW}&detect_report=true&format=png', body)
    assert answer.status_code == 200 and int(answer.headers['X-Regions']) > 0
    whole = server.post('/redact?detect=text,plates&keep=0,0,100%25,100%25&require=false&format=png', body)
    assert whole.status_code == 200 and whole.headers['X-Regions'] == '0'
    check_problem(server.post('/redact?detect=text,plates&keep=0,0,100%25,100%25', body), 'no-region', 'detect')


def test_the_report_and_the_plan(server):
    plan = server.post(f'/redact?plan=true&detect=text,plates&{LOW}', noisy())
    assert plan.status_code == 200
    assert all(region['origin'] == 'found' for region in plan.json()['regions'])


def test_without_a_model(start):
    server = start('--text-model', 'none')
    for name in ('plates', 'text,plates'):
        check_problem(server.post(f'/blur?detect={name}', pictures.png(pictures.photograph(64, 48))), 'bad-parameter', 'detect', 'it has no model (--text-model;')
    assert not server.get('/version').json()['plates']


def test_the_version(server):
    assert server.get('/version').json()['plates'] is True
