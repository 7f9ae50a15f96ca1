# SPDX-License-Identifier: MIT
"""`/detect` tells how a line of text is turned."""

import json
import math

import numpy
import pytest
from PIL import Image

import faces
import pictures
import writing
from test_multipart import form

pytestmark = writing.needed
TEXT = 'Holloway-4471-0927'  # words with gaps are lines of their own when they are steep
SIDE = 560


def turned(angle, height=20):
    """A picture with text that is turned clockwise, and the corners of it."""
    ink, centre = Image.new('L', (SIDE, SIDE)), (SIDE / 2, SIDE / 2)
    drawn = writing.word(TEXT, height)
    left, top = round(centre[0] - drawn.width / 2), round(centre[1] - drawn.height / 2)
    ink.paste(drawn, (left, top))
    ink = ink.rotate(-angle, Image.Resampling.BICUBIC, center=centre)
    picture = Image.composite(Image.new('RGB', ink.size, (25, 25, 30)), Image.new('RGB', ink.size, (250, 250, 247)), ink)
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    upright = [(x - centre[0], y - centre[1]) for x, y in ((left, top), (left + drawn.width, top), (left + drawn.width, top + drawn.height), (left, top + drawn.height))]
    return picture, [(centre[0] + x * c - y * s, centre[1] + x * s + y * c) for x, y in upright]


def search(server, picture, query=''):
    answer = server.post(f'/detect?detect=text{query}', writing.png(picture))
    assert answer.status_code == 200, answer.text
    return answer.json()['text']


def angle_of(polygon):
    (left, top), (right, bottom) = polygon[:2]
    return math.degrees(math.atan2(bottom - top, right - left))


def edges(polygon):
    return list(zip(polygon, polygon[1:] + polygon[:1]))


def area(polygon):
    """Above 0: clockwise on the screen."""
    return sum(one[0] * other[1] - other[0] * one[1] for one, other in edges(polygon)) / 2


def beyond(polygon, point):
    """By how many pixels a point lies outside of it."""
    return max(((other[1] - one[1]) * (point[0] - one[0]) - (other[0] - one[0]) * (point[1] - one[1])) / math.dist(one, other) for one, other in edges(polygon))


@pytest.mark.parametrize('height', (14, 20, 36))
@pytest.mark.parametrize('angle', (0, 10, -20, 30, 45, -60, 80))
def test_turned_lines(server, angle, height):
    """The angle, and a rectangle that holds the letters, and less than the upright one."""
    picture, corners = turned(angle, height)
    line, = search(server, picture)
    polygon = line['polygon']
    assert angle_of(polygon) == pytest.approx(angle, abs=3)
    assert all(beyond(polygon, corner) < height / 4 for corner in corners)
    assert 0.8 * area(corners) < area(polygon) < 2.5 * area(corners)
    if angle:
        assert area(polygon) < 0.8 * line['width'] * line['height']
    first, wanted = polygon[0], corners[0]
    assert math.dist(first, wanted) < 1.5 * height and all(math.dist(first, corner) > height / 2 for corner in corners[1:])


def test_upright_lines(server):
    """Close to the boxes, in whole pixels."""
    found = search(server, writing.letter()[0])
    assert len(found) == len(writing.LINES)
    for line in found:
        left, top, right, bottom = writing.corners(line)
        for (x, y), (u, v) in zip(line['polygon'], ((left, top), (right, top), (right, bottom), (left, bottom)), strict=True):
            assert abs(x - u) < 8 and abs(y - v) < 8
            assert isinstance(x, int) and isinstance(y, int)


def test_standing_lines(server):
    """Those that run up are taken for some that run down: letters are not read."""
    for turn in (Image.Transpose.ROTATE_270, Image.Transpose.ROTATE_90):
        line, = search(server, turned(0)[0].transpose(turn))
        assert abs(angle_of(line['polygon'])) == pytest.approx(90, abs=2)


def test_orientation(server):
    """The polygon is one of the upright picture, as the box is."""
    pixels = numpy.asarray(turned(20, 24)[0])
    stored = pictures.png(pictures.stored_as(pixels, 6), before=[('eXIf', pictures.exif(6))])
    assert server.post('/detect?detect=text', stored).content == server.post('/detect?detect=text', pictures.png(pixels)).content


def test_smaller_copies(server):
    """The search of a smaller copy answers places of the picture."""
    picture, corners = turned(-20, 36)
    line, = search(server, picture, f'&detect_size={SIDE // 2}')
    assert angle_of(line['polygon']) == pytest.approx(-20, abs=3)
    assert all(beyond(line['polygon'], corner) < 10 for corner in corners)


def test_margin(server):
    """It grows about its middle, as the box does."""
    picture, _ = turned(30)
    (plain,), (grown,) = search(server, picture), search(server, picture, '&detect_margin=50')
    for near, far in zip(plain['polygon'], grown['polygon'], strict=True):
        middle = [sum(corner[i] for corner in plain['polygon']) / 4 for i in (0, 1)]
        assert all(abs(far[i] - middle[i] - 2 * (near[i] - middle[i])) <= 3 for i in (0, 1))


def test_not_of_coarse_boxes(server):
    """It would tell what they hide."""
    picture, _ = turned(0)
    assert 'polygon' in search(server, picture, '&detect_grid=1')[0]
    for grid in (2, 16):
        assert all('polygon' not in line for line in search(server, picture, f'&detect_grid={grid}'))


@faces.needed
def test_not_of_faces(server):
    page = server.post('/detect?detect=faces,text', faces.photograph()).json()
    assert page['faces'] and all('polygon' not in face for face in page['faces'])


@pytest.mark.parametrize('query', ('', '&mode=redact&fill=000000'))
def test_the_box_is_what_is_hidden(server, query):
    """By the search, and by its answer as a list."""
    body = writing.png(turned(20)[0])
    page = server.post('/detect?detect=text', body).json()
    target = f'/pixelate?block=8&format=png{query}'
    found = server.post(f'{target}&detect=text&detect_grid=1', body)
    entries = [{name: line[name] for name in ('x', 'y', 'width', 'height')} for line in page['text']]
    for regions in (json.dumps(page), json.dumps(entries)):
        answer = server.post(target, form(('image"; filename="p', body), ('regions', regions)), headers={'Content-Type': 'multipart/form-data; boundary=simple'})
        assert answer.status_code == 200 and answer.content == found.content
