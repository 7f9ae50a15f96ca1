# SPDX-License-Identifier: MIT
"""`except`: of what a detector finds, each of these rectangles names one, which is left out as a whole."""

import io

import numpy
import pytest
from PIL import Image

import evidence
import faces
import fake_gpu
import pictures
import writing
from problems import check_problem

TARGET = '/redact?detect=faces&fill=ff0000&detect_shape=box&format=png'
pytestmark = faces.needed


def pixels(body):
    return numpy.asarray(Image.open(io.BytesIO(body)).convert('RGB')).astype(int)


def rectangle(box, grow=0):
    return ','.join(f'{number:.2f}' for number in (box['x'] - grow, box['y'] - grow, box['width'] + 2 * grow, box['height'] + 2 * grow))


def places(answer):
    return [(box['x'], box['y'], box['width'], box['height']) for box in answer]


@pytest.fixture(scope='module')
def body():
    return writing.png(faces.composed((500, 332), faces.PLACES))


@pytest.fixture
def found(server, body):
    answer = server.post('/detect', body).json()['faces']
    assert len(answer) == 6
    return answer


@pytest.mark.parametrize('index', range(6))
def test_all_but_one(server, body, found, index):
    """That one is untouched with its margin, and each other one is hidden as before."""
    kept = found[index]
    answer = server.post(f'{TARGET}&except={rectangle(kept)}', body)
    assert answer.status_code == 200 and answer.headers['X-Regions'] == '5'
    before, every, some = pixels(body), pixels(server.post(TARGET, body).content), pixels(answer.content)
    alone = pixels(server.post('/redact?fill=ff0000&format=png' + ''.join(
        f"&region={max(0, box['x'] - box['width'] / 5):.3f},{max(0, box['y'] - box['height'] / 5):.3f},"
        f"{box['width'] * 1.4 + min(0, box['x'] - box['width'] / 5):.3f},{box['height'] * 1.4 + min(0, box['y'] - box['height'] / 5):.3f}"
        for box in found if box is not kept), body).content)
    assert (some == alone).mean() > 0.9999  # numbers of a query have three digits
    left, top, right, bottom = int(kept['x']), int(kept['y']), int(kept['x'] + kept['width']), int(kept['y'] + kept['height'])
    assert (every != before)[top:bottom, left:right].any(axis=2).mean() > 0.98 and (some == before)[top:bottom, left:right].all()


def test_several_and_units(server, body, found):
    width, height = Image.open(io.BytesIO(body)).size
    two = server.post(f'{TARGET}&except={rectangle(found[0], 9)}&except={rectangle(found[1], 4)}', body)
    assert two.headers['X-Regions'] == '4'
    ratios = ''.join(f"&except={(box['x'] - 2) / width:.5f},{(box['y'] - 2) / height:.5f},{(box['width'] + 4) / width:.5f},{(box['height'] + 4) / height:.5f}"
                     for box in found[:2])
    assert server.post(f'{TARGET}&unit=ratio{ratios}', body).content == two.content
    assert server.post(f'{TARGET}&except=0,0,100%25,100%25', body).headers['X-Regions'] == '6'  # no face fills a third of it
    assert server.post(f'{TARGET}&except={rectangle(found[0])}&except={rectangle(found[0], 3)}', body).headers['X-Regions'] == '5'


def test_the_best_of_two(server, body, found):
    """One is left out, also where another one is in the rectangle."""
    one, other = found[0], found[1]
    both = faces.composed((500, 332), faces.PLACES)
    small = both.crop((int(other['x']) - 6, int(other['y']) - 6, int(other['x'] + other['width']) + 6, int(other['y'] + other['height']) + 6))
    both.paste(small.resize((34, 40)), (int(one['x']), int(one['y'] + one['height'])))
    picture = writing.png(both)
    faces_then = server.post('/detect', picture).json()['faces']
    kept = min(faces_then, key=lambda box: abs(box['x'] - one['x']) + abs(box['y'] - one['y']))
    around = {**kept, 'height': kept['height'] * 1.7}
    inside = [box for box in faces_then if around['x'] - 6 <= box['x'] and box['x'] + box['width'] <= around['x'] + around['width'] + 6
              and around['y'] <= box['y'] + box['height'] / 2 <= around['y'] + around['height']]
    assert len(inside) > 1
    left_out = server.post(f'/detect?except={rectangle(around)}', picture).json()['faces']
    assert places(left_out) == places(box for box in faces_then if box is not kept)


def test_half_of_the_area(server, body, found):
    """A rectangle on a part of the face names it from the half on."""
    box = found[0]
    for share, regions in ((0.45, '6'), (0.55, '5')):
        part = {**box, 'height': box['height'] * share}
        assert server.post(f'{TARGET}&except={rectangle(part)}', body).headers['X-Regions'] == regions


def test_a_region_is_hidden_there_too(server, body, found):
    left, top = int(found[0]['x']) + 5, int(found[0]['y']) + 5
    after = pixels(server.post(f'{TARGET}&except={rectangle(found[0])}&region={left},{top},10,12', body).content)
    assert (after[top:top + 12, left:left + 10] == (255, 0, 0)).all()


@pytest.mark.parametrize('orientation', (3, 6, 7))
def test_orientations(server, body, found, orientation):
    upright = numpy.asarray(Image.open(io.BytesIO(body)).convert('RGB'))
    turned = pictures.png(pictures.stored_as(upright, orientation), before=[('eXIf', pictures.exif(orientation))])
    query = f'{TARGET}&except={rectangle(found[2], 3)}'
    assert (pixels(server.post(query, turned).content) == pixels(server.post(query, body).content)).all()


def test_answers_tell_the_same(server, body, found):
    """/detect, header, plan and list know nothing of it."""
    query = f'except={rectangle(found[1], 1)}'
    others = places(found[:1] + found[2:])
    assert places(server.post(f'/detect?{query}', body).json()['faces']) == others
    answer = server.post(f'{TARGET}&{query}&detect_report=true', body)
    assert answer.headers['X-Faces'].count(';') == 4
    plan = server.post(f'/redact?plan=true&detect=faces&{query}', body).json()
    assert len(plan['regions']) == 5
    whole = server.post('/redact?plan=true&detect=faces', body).json()
    assert [region for region in whole['regions'] if region in plan['regions']] == plan['regions']
    high = server.post(f'/detect?detect_effort=high&{query}', body).json()['faces']
    assert not any(abs(box['x'] - found[1]['x']) < 5 and abs(box['y'] - found[1]['y']) < 5 for box in high)


def test_doubtful(server, body):
    """What is doubtful in the rectangle is none of the plan's."""
    query = '/redact?plan=true&detect=faces&detect_threshold=0.95'
    before = server.post(query, body).json()
    assert before['doubtful']
    one = before['doubtful'][0]['ellipse']
    after = server.post(f"{query}&except={','.join(map(str, one))}", body).json()['doubtful']
    assert after == before['doubtful'][1:]


def test_reports(signing, body, found):
    report, answer = evidence.parts(signing.post(f'/redact?detect=faces&except={rectangle(found[0])}&report=true', body))
    said = evidence.content(report)
    assert said['detectors'][0]['found'] + said['detectors'][0]['excepted'] == 6 and said['detectors'][0]['excepted'] == 1
    assert {'name': 'except', 'value': rectangle(found[0])} in said['parameters']
    assert len(said['redacted']['regions']) == said['detectors'][0]['found']
    verified = evidence.verify(signing, report, answer, body)
    assert verified.status_code == 200 and verified.json()['redone'] is True, verified.text


def test_refusals(server, body, found):
    check_problem(server.post('/blur?except=1,2,3,4', body), 'bad-parameter', 'except', 'except needs detect')
    check_problem(server.post('/redact?region=1,2,30,40&except=1,2,3,4', body), 'bad-parameter', 'except', 'except needs detect')
    check_problem(server.post(f'{TARGET}&except=1,2,3', body), 'bad-parameter', 'except', 'a rectangle has 4 numbers')
    check_problem(server.post(f'{TARGET}&except=ellipse:1,2,3,4', body), 'bad-parameter', 'except', 'it must be x,y,w,h')
    check_problem(server.post(f'{TARGET}&except=-1,2,3,4', body), 'bad-parameter', 'except')
    check_problem(server.post(f'{TARGET}&except=0,0,9,9&except=500,0,10,10', body), 'bad-parameter', 'except', 'except 2 lies off the picture, which has 500x332 pixels')
    check_problem(server.post('/detect?except=0,332,10,10', body), 'bad-parameter', 'except', 'except 1 lies off the picture')
    check_problem(server.post(f'{TARGET}&except=0.1,0.1,0.5,0.5', body), 'bad-parameter', 'except', 'it must be 1 pixel wide and high')
    check_problem(server.post(TARGET + '&except=1,2,3,4' * 65, body), 'bad-parameter', 'except')
    every = TARGET + ''.join(f'&except={rectangle(box)}' for box in found)
    check_problem(server.post(every, body), 'no-region', 'detect', 'nothing was found but what keep or except leaves out')
    assert server.post(f'{every}&require=false', body).headers['X-Regions'] == '0'


@fake_gpu.needed
def test_the_same_on_a_gpu(server, start):
    """Also in a JPEG that does not leave it."""
    daemon = fake_gpu.launch(start, '--face-model', faces.MODEL, '--gpu-timeout', '60s', '--work-timeout', '2m')
    for body in (faces.photograph(), writing.png(faces.composed((500, 332), faces.PLACES))):
        one = server.post('/detect', body).json()['faces'][0]
        target = f'/pixelate?block=12&mode=redact&require=false&detect=faces&except={rectangle(one)}'
        ours, other = daemon.post(target, body), server.post(target, body)
        assert ours.status_code == 200 and ours.headers['X-Backend'].startswith('cuda') and ours.content == other.content
    daemon.stop()
