# SPDX-License-Identifier: MIT
"""`gravity=faces`: what is cut off has no faces, as far as that goes."""

import io

import numpy
import pytest
from PIL import Image

import fake_gpu
import faces
import pictures
import writing
from problems import check_problem

pytestmark = faces.needed
SIDES = (900, 300)
RIGHT = ((690, 40, 150),)
APART = ((30, 30, 80), (560, 40, 130), (720, 60, 130))
COVER = '/resize?width=200&height=200&fit=cover&format=png'


def pixels(answer):
    assert answer.status_code == 200, answer.text
    return numpy.asarray(Image.open(io.BytesIO(answer.content)).convert('RGB')).astype(int)


def found(server, body):
    return server.post('/detect', body).json()['faces']


def middle(boxes):
    weights = [box['width'] * box['height'] * box['score'] for box in boxes]
    return sum((box['x'] + box['width'] / 2) * weight for box, weight in zip(boxes, weights)) / sum(weights)


def same(one, other, most=1):
    return one.shape == other.shape and numpy.abs(one - other).max() <= most


@pytest.mark.parametrize('places, kept', ((RIGHT, 1), (APART, 2)))
def test_cover(server, places, kept):
    """The part lies around the faces that it can show."""
    body = writing.png(faces.composed(SIDES, places))
    boxes = found(server, body)
    assert len(boxes) == len(places)
    shown = sorted(boxes, key=lambda box: -box['x'])[:kept]
    at = middle(shown) / SIDES[0]
    assert same(pixels(server.post(f'{COVER}&gravity=faces', body)), pixels(server.post(f'{COVER}&gravity={at:.6f},0.5', body)))
    cut = pixels(server.post('/crop?width=300&gravity=faces&format=png', body))
    left = min(round(middle(shown) - 150), SIDES[0] - 300)
    assert (cut == pixels(server.post(f'/crop?x={left}&width=300&format=png', body))).all()
    answer = server.post(f'{COVER}&gravity=faces', body)
    assert 'X-Regions' not in answer.headers and 'X-Faces' not in answer.headers
    assert server.post(f'{COVER}&gravity=faces&detect_report=true', body).headers['X-Faces'].count(';') == len(places) - 1


def test_both_axes(server):
    body = writing.png(faces.composed((700, 600), ((480, 330, 120),)))
    box = found(server, body)[0]
    left, top = (round(box[name] + box[side] / 2 - 100) for name, side in (('x', 'width'), ('y', 'height')))
    assert (pixels(server.post('/crop?width=200&height=200&gravity=faces&format=png', body)) ==
            pixels(server.post(f'/crop?x={left}&y={top}&width=200&height=200&format=png', body))).all()


def test_no_face(server):
    """Then it is the middle."""
    for body in (writing.png(faces.composed(SIDES, ())), faces.encoded(faces.composed(SIDES, ()))):
        for target in (COVER, '/crop?width=200&height=100'):
            assert server.post(f'{target}&gravity=faces', body).content == server.post(f'{target}&gravity=center', body).content


@pytest.mark.parametrize('orientation', (1, 3, 6, 8))
def test_orientations(server, orientation):
    upright = numpy.asarray(faces.composed(SIDES, APART))
    turned = pictures.png(pictures.stored_as(upright, orientation), before=[('eXIf', pictures.exif(orientation))])
    for target in (COVER, '/crop?aspect=1:1&format=png'):
        assert (pixels(server.post(f'{target}&gravity=faces', turned)) == pixels(server.post(f'{target}&gravity=faces', pictures.png(upright)))).all()


@pytest.mark.parametrize('subsampling', ('420', '422', '444'))
def test_planes_of_a_jpeg(server, subsampling):
    """They are cut where samples of colour begin."""
    body = pictures.jpeg(numpy.asarray(faces.composed(SIDES, RIGHT)), 92, subsampling=subsampling)
    left = middle(found(server, body)) - 101
    begin = round(left) // 2 * 2 if subsampling[1] == '2' else round(left)
    answer = server.post('/crop?width=202&gravity=faces', body)
    assert answer.content == server.post(f'/crop?x={begin}&width=202', body).content
    whole, part = pixels(server.post('/crop?x=0&width=100%25&format=png', body)), pixels(server.post(f'{COVER}&gravity=faces', body))
    at = (left + 1) / SIDES[0]
    assert part.shape == (200, 200, 3) and whole.shape == (300, 900, 3) and 0 < at < 1


def test_steps(server):
    """In a pipeline, behind filters that leave pixels where they are; and for linear light and shrink=fast."""
    body = faces.encoded(faces.composed(SIDES, RIGHT))
    at = f'{middle(found(server, body)) / SIDES[0]:.7f},0.5'
    for target in ('/pipeline?format=png&ops=blur:sigma=1|resize:width=200:height=200:fit=cover:gravity={}|rotate:angle=90', COVER + '&colorspace=linear&gravity={}',
                   '/resize?width=60&height=60&fit=cover&format=png&gravity={}'):
        assert same(pixels(server.post(target.format('faces'), body)), pixels(server.post(target.format(at), body)), 2), target
    fast = '/resize?width=60&height=60&fit=cover&format=png&gravity=faces'
    assert server.post(f'{fast}&shrink=fast', body).content == server.post(fast, body).content


def test_with_redaction(server):
    """Faces may be what is kept in sight, and hidden; or text alone is hidden."""
    body = writing.png(faces.composed(SIDES, RIGHT))
    hidden = server.post(f'{COVER}&gravity=faces&detect=faces&mode=redact&fill=ff0000', body)
    assert hidden.headers['X-Regions'] == '1'
    plain = pixels(server.post(f'{COVER}&gravity=faces', body))
    assert (pixels(hidden)[90:110, 90:110] == (255, 0, 0)).all()
    region = server.post(f'{COVER}&gravity=faces&mode=redact&fill=ff0000&region=0,0,20,20', body)
    assert 'X-Regions' not in region.headers and (pixels(region) == plain).all()
    kept = found(server, body)[0]
    excepted = server.post(f"{COVER}&gravity=faces&detect=faces&mode=redact&require=false&except={kept['x']},{kept['y']},{kept['width']},{kept['height']}", body)
    assert excepted.headers['X-Regions'] == '0' and (pixels(excepted) == plain).all()


def test_refusals(server, start):
    body = faces.photograph()
    for query, name, word in (('/resize?width=9&gravity=faces', 'gravity', 'gravity=faces needs fit=cover'),
                              ('/resize?width=9&height=9&fit=contain&gravity=faces', 'gravity', 'gravity=faces needs fit=cover'),
                              ('/crop?gravity=faces', 'gravity', 'gravity needs aspect, width or height'),
                              ('/crop?width=50&x=3&gravity=faces', 'x', 'x and gravity cannot be given together'),
                              ('/crop?width=50&gravity=text', 'gravity', 'northwest, faces, persons, or a point'),
                              ('/crop?width=50&gravity=faces&autorotate=false', 'gravity', 'needs autorotate'),
                              ('/crop?width=64&height=64&gravity=faces&lossless=true', 'lossless', 'a search decides'),
                              ('/crop?width=64&gravity=faces&detect_margin=3', 'detect_margin', 'needs detect'),
                              ('/pipeline?ops=rotate:angle=90|crop:width=64:gravity=faces', 'ops', 'step 2: gravity=faces cannot follow rotate')):
        check_problem(server.post(query, body), 'bad-parameter', name, word)
    assert server.post('/crop?width=64&gravity=faces&detect_effort=high&detect_threshold=0.5&detect_size=full', body).status_code == 200
    without = start('--face-model', 'none')
    check_problem(without.post('/crop?width=64&gravity=faces', body), 'bad-parameter', 'gravity', 'gravity: this server cannot find faces, as it has no model')
    check_problem(without.post('/pipeline?ops=crop:width=64:gravity=faces', body), 'bad-parameter', 'ops', 'ops: this server cannot find faces')
    without.stop()


@fake_gpu.needed
def test_the_same_on_a_gpu(server, start):
    daemon = fake_gpu.launch(start, '--face-model', faces.MODEL, '--gpu-timeout', '60s', '--work-timeout', '2m')
    picture = faces.composed(SIDES, APART)
    targets = ('/resize?width=200&height=200&fit=cover&gravity=faces', '/crop?width=303&gravity=faces', '/pipeline?ops=blur:sigma=2|crop:aspect=1/1:gravity=faces')
    for body, asked in ((faces.encoded(picture, quality=92), targets), (writing.png(picture), targets[2:])):
        for target in asked:
            ours, other = daemon.post(target, body), server.post(target, body)
            assert ours.status_code == 200 and ours.headers['X-Backend'].startswith('cuda') and ours.content == other.content, target
    daemon.stop()
