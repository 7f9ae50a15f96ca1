# SPDX-License-Identifier: MIT
"""Persons are searched for in several sizes within one request, and hidden by boxes."""

import io

import numpy
import pytest
from PIL import Image

import faces
import persons
import pictures
import writing
from problems import check_problem

pytestmark = persons.needed


def found(server, body, query=''):
    answer = server.post(f'/detect?detect=persons{query}', body)
    assert answer.status_code == 200, answer.text
    page = answer.json()
    assert list(page) == ['width', 'height', 'persons']
    return page['persons']


def best(boxes):
    return max(boxes, key=lambda box: box['score'])


def test_a_person(server):
    """The box reaches from head to the lower edge; the astronaut fills most of the photograph."""
    body = writing.png(faces.astronaut())
    boxes = found(server, body)
    box = best(boxes)
    assert set(box) == {'x', 'y', 'width', 'height', 'score'} and box['score'] > 0.4
    head = faces.HEAD
    assert box['x'] < head[0] + 30 and box['x'] + box['width'] > head[2] and box['y'] < head[1] + 100
    assert box['y'] + box['height'] > 400
    scores = [one['score'] for one in boxes]
    assert scores == sorted(scores, reverse=True) and min(scores) >= 0.3


def test_no_person(server):
    assert found(server, writing.png(writing.letter(24)[0])) == []
    assert found(server, pictures.png(pictures.photograph(1, 1))) == []


def test_beside_others(server):
    """Each detector finds what it finds alone."""
    body = writing.png(persons.beside())
    page = server.post('/detect?detect=faces,persons', body).json()
    assert page['persons'] == found(server, body)
    assert page['faces'] == server.post('/detect?detect=faces', body).json()['faces']


@pytest.mark.parametrize('query', ('&detect_size=400', '&detect_size=full', '&detect_effort=high'))
def test_sizes(server, query):
    body = writing.png(persons.beside())
    box = best(found(server, body, query))
    assert box['x'] + box['width'] / 2 > 500
    if 'high' in query:
        high = found(server, body, query)
        assert all(one in high for one in found(server, body))


def test_hidden_by_boxes(server):
    """With the margin, and in whole: no ellipse."""
    body = writing.png(persons.beside())
    boxes = found(server, body, '&detect_margin=10')
    answer = server.post('/redact?detect=persons&format=png', body)
    assert answer.status_code == 200, answer.text
    hidden = numpy.asarray(Image.open(io.BytesIO(answer.content)).convert('RGB')).astype(int)
    for box in boxes:
        left, top, right, bottom = writing.corners(box)
        assert (hidden[round(top):round(bottom), round(left):round(right)] == hidden[round(top), round(left)]).all()
    assert answer.headers['X-Regions'] == str(len(boxes))


def test_gravity(server):
    """What is kept has the person."""
    body = writing.png(persons.beside())
    target = '/crop?width=300&height=300&format=png'
    followed = server.post(f'{target}&gravity=persons', body)
    assert followed.status_code == 200 and followed.content != server.post(f'{target}&gravity=center', body).content
    cover = server.post('/resize?width=200&height=200&fit=cover&gravity=persons&format=png', body)
    assert cover.status_code == 200 and cover.headers['Content-Type'] == 'image/png'


def test_without_a_model(start):
    server = start('--person-model', 'none')
    problem = server.post('/blur?detect=persons', pictures.png(pictures.photograph(64, 48)))
    check_problem(problem, 'bad-parameter', 'detect', 'it has no model (--person-model; docs/persons.md#the-model-file')
