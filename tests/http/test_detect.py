# SPDX-License-Identifier: MIT
"""Faces are found, become regions, and never stay unhidden where they cannot be looked for."""

import functools
import json

import numpy
import pytest

import anatomy
import areas
import daemon
import faces
import foreign
import pictures
from problems import check_late, check_problem
from test_multipart import form
from test_orientation import marked

REDACT = '/pixelate?block=8&mode=redact&detect=faces'
PLAIN = '/convolve?preset=emboss&bias=50&format=png'
BLANK = pictures.png(pictures.photograph(64, 48))
pytestmark = faces.needed


def boxes(server, body, query=''):
    answer = server.post(f'/detect?{query}', body)
    assert answer.status_code == 200, answer.text
    page = answer.json()
    assert set(page) == {'width', 'height', 'faces'}
    return [faces.corners(face) for face in page['faces']]


def test_the_reference(server):
    wanted = faces.reference()
    got = boxes(server, faces.photograph(), 'detect_size=full')
    assert len(got) == 6 and faces.found(wanted, got, 0.7) == 6


def test_the_answer(server):
    answer = server.post('/detect', faces.photograph())
    assert answer.headers['Content-Type'] == 'application/json' and 'detect;dur=' in answer.headers['Server-Timing']
    assert 'X-Regions' not in answer.headers
    page = answer.json()
    assert (page['width'], page['height']) == (500, 332)
    scores = [face['score'] for face in page['faces']]
    assert len(scores) == 6 and scores == sorted(scores, reverse=True) and 0.3 < scores[-1] < scores[0] <= 1
    for face in page['faces']:
        assert set(face) == {'x', 'y', 'width', 'height', 'score', 'landmarks'} and len(face['landmarks']) == 5
        left, top, right, bottom = faces.corners(face)
        assert 0 <= left < right <= 500 and 0 <= top < bottom <= 332
        assert all(left - 5 <= x <= right + 5 and top - 5 <= y <= bottom + 5 for x, y in face['landmarks'])


def test_nothing_is_found(server):
    assert server.post('/detect', BLANK).json() == {'width': 64, 'height': 48, 'faces': []}
    for target in (REDACT + '&require=0', PLAIN + '&detect=faces&require=0', '/blur?detect=faces&feather=3&require=0', '/resize?width=64&detect=faces&mode=redact&require=0'):
        answer = server.post(target + '&format=png', BLANK) if 'format' not in target else server.post(target, BLANK)
        assert answer.status_code == 200 and answer.headers['X-Regions'] == '0', answer.text
        assert (anatomy.read_png(answer.content) == pictures.photograph(64, 48)).all()
        assert 'no pixel is covered' in answer.headers['X-Blurd-Notice']
        check_problem(server.post(target.replace('require=0', 'require=1'), BLANK), 'no-region', 'detect', 'no face was found')
    inverted = server.post(f'{PLAIN}&detect=faces&invert=1', BLANK)
    assert inverted.content == server.post(PLAIN, BLANK).content and inverted.headers['X-Regions'] == '0'


def forms():
    """Photographs whose colour differs between the planes as stored and the pixels."""
    picture = faces.composed((500, 332), faces.PLACES)
    yield 'photograph', faces.photograph()
    for quality in (20, 50):
        for how in ({'subsampling': '4:2:0'}, {'subsampling': '4:2:2'}, {'subsampling': '4:4:4'}, {'subsampling': '4:2:0', 'progressive': True}):
            yield f'{quality} {how}', faces.encoded(picture.resize((401, 267)), quality=quality, **how)
    yield 'gray', faces.encoded(picture.convert('L'), quality=30)
    yield 'CMYK', faces.encoded(picture.convert('CMYK'), quality=60)
    small = numpy.asarray(picture.resize((401, 267)))
    yield 'turned', marked(small, 6, subsampling='420')
    for kind in ('png', *foreign.WRITERS):
        yield kind, functools.partial(foreign.write, kind, small)


FORMS = dict(forms()) if faces.FILE.exists() else {'photograph': b''}


@pytest.mark.parametrize('name', FORMS)
def test_every_answer_has_the_same_faces(server, name):
    """Those that /detect shows are those that are hidden."""
    formats = server.get('/version').json()['formats']
    if name in foreign.WRITERS and name not in formats['reads']:
        pytest.skip(f'built without {name}')
    body = FORMS[name]() if callable(FORMS[name]) else FORMS[name]

    def seen(target):
        target += '&format=jpeg' if name == 'heic' and 'format' not in target else ''
        answer = server.post(f'{target}&detect=faces&detect_report=true&detect_threshold=0.05', body)
        assert answer.status_code == 200, answer.text
        return answer.headers['X-Faces']

    wanted = seen('/pixelate?block=8')
    page = server.post('/detect?detect_threshold=0.05', body).json()['faces']
    shown = [[face[key] for key in ('x', 'y', 'width', 'height', 'score')] for face in page]
    assert len(shown) >= 6 and numpy.allclose(shown, [[float(number) for number in face.split(',')] for face in wanted.split('; ')], atol=0.051)
    for more in ('format=png', 'mode=redact', 'mode=redact&format=png', 'colorspace=rgb', 'colorspace=linear', 'subsampling=444', 'quality=50', 'progressive=true'):
        assert seen(f'/pixelate?block=8&{more}') == wanted, more
    others = [f'format={kind}' for kind in ('webp', 'webp&lossless=true', 'avif') if kind[:4] in formats['writes']]
    for more in (*others, *(['autorotate=false'] if name != 'turned' else [])):
        assert seen(f'/pixelate?block=8&{more}') == wanted, more
    for target in ('/sharpen?', '/convolve?preset=emboss', '/pipeline?ops=blur|sharpen', '/pipeline?ops=blur|pixelate', '/resize?width=99&mode=redact'):
        assert seen(target) == wanted, target


@pytest.mark.parametrize('more', ('', '&invert=1', '&feather=6', '&mode=redact', '&colorspace=linear'))
@pytest.mark.parametrize('shape,margin', (('box', 0), ('ellipse', 20), ('box', 35.5)))
def test_faces_are_regions(server, more, shape, margin):
    """The answer is that of the same regions given by hand."""
    body = faces.photograph()
    target = f'/pixelate?block=8&format=png{more}'
    answer = server.post(f'{target}&detect=faces&detect_shape={shape}&detect_margin={margin}', body)
    page = server.post('/detect', body).json()
    entries = [{'ellipse' if shape == 'ellipse' else 'box': [face['x'], face['y'], face['width'], face['height']]} for face in page['faces']]
    document = json.dumps({'margin': margin, 'regions': entries})
    wanted = server.post(target, form(('image"; filename="p', body), ('regions', document)), headers={'Content-Type': 'multipart/form-data; boundary=simple'})
    assert answer.status_code == 200 and wanted.status_code == 200, answer.text + wanted.text
    assert answer.headers['X-Regions'] == '6'
    assert answer.content == wanted.content


def test_the_page_is_a_list(server):
    """What /detect answers can be sent back as regions."""
    body = faces.photograph()
    page = server.post('/detect?detect_margin=20', body).text
    answer = server.post('/blur', form(('image"; filename="p', body), ('regions', page)), headers={'Content-Type': 'multipart/form-data; boundary=simple'})
    assert answer.status_code == 200 and answer.headers['X-Regions'] == '6'
    wrong = server.post('/blur', form(('image"; filename="p', BLANK), ('regions', page)), headers={'Content-Type': 'multipart/form-data; boundary=simple'})
    check_problem(wrong, 'bad-parameter', 'regions', 'other width or height')


def test_blocks_outside_keep_their_bits(server):
    body = faces.photograph()
    before, after = anatomy.pixels(body), anatomy.pixels(server.post(REDACT, body).content)
    assert before.shape == after.shape
    mask = numpy.zeros(before.shape[:2], bool)
    for left, top, right, bottom in boxes(server, body, 'detect_margin=20'):
        mask[max(0, int(top) - 17):int(bottom) + 18, max(0, int(left) - 17):int(right) + 18] = True
    assert (before == after)[~mask].all() and 0.1 < (before != after).any(-1)[mask].mean()


def test_with_given_regions(server):
    body = faces.photograph()
    answer = server.post(f'{PLAIN}&detect=faces&region=0,0,20,20', body)
    assert answer.headers['X-Regions'] == '7'
    with_all = anatomy.read_png(answer.content)
    faces_only = anatomy.read_png(server.post(f'{PLAIN}&detect=faces', body).content)
    given_only = anatomy.read_png(server.post(f'{PLAIN}&region=0,0,20,20', body).content)
    corner = areas.mask('0,0,20,20', 500, 332)
    assert (with_all[corner] == given_only[corner]).all() and (with_all[~corner] == faces_only[~corner]).all()


def test_in_pipelines(server):
    """Faces are hidden before the first step, and are those of the picture as it came."""
    body = faces.photograph()
    answer = server.post('/pipeline?ops=resize:width=250|rotate:angle=90&mode=redact&detect=faces&format=png', body)
    assert answer.status_code == 200 and answer.headers['X-Regions'] == '6', answer.text
    again = server.post('/detect?detect_threshold=0.3', server.post('/pipeline?ops=blur:sigma=1&mode=redact&detect=faces', body).content)
    assert again.json()['faces'] == []
    check_problem(server.post('/pipeline?ops=rotate|blur&detect=faces', body), 'bad-parameter', 'detect', 'detect: rotate acts on the whole picture')
    check_problem(server.post('/rotate?detect=faces', body), 'bad-parameter', 'detect', 'detect: rotate acts on the whole picture')


@pytest.mark.parametrize('target', ('/blur?sigma=0.5&mode=redact', '/pixelate?mode=redact', '/crop?width=90%25&mode=redact', '/placeholder?mode=redact', '/stats?', '/adjust?negate=1'))
def test_everywhere(server, target):
    answer = server.post(f'{target}&detect=faces', faces.photograph())
    assert answer.status_code == 200 and answer.headers['X-Regions'] == '6', answer.text


def test_the_report(server):
    answer = server.post(f'{REDACT}&detect_report=true', faces.photograph())
    rows = [[float(number) for number in row.split(',')] for row in answer.headers['X-Faces'].split('; ')]
    page = server.post('/detect', faces.photograph()).json()['faces']
    assert numpy.abs(numpy.array(rows) - [[face[name] for name in ('x', 'y', 'width', 'height', 'score')] for face in page]).max() < 0.06
    assert 'X-Faces' not in server.post(REDACT, faces.photograph()).headers
    assert 'X-Faces' not in server.post(f'{REDACT}&detect_report=1', BLANK).headers


# --- robustness --------------------------------------------------------------------------
@pytest.mark.parametrize('orientation', range(1, 9))
def test_orientations(server, orientation):
    """The same boxes, upright, to the byte where the pixels are the same."""
    upright = anatomy.pixels(faces.photograph())[:320, :480]  # whole blocks
    wanted = server.post('/detect', pictures.png(upright)).content
    turned = pictures.png(pictures.stored_as(upright, orientation), before=[('eXIf', pictures.exif(orientation))])
    for query in ('', 'autorotate=false'):
        assert server.post(f'/detect?{query}', turned).content == wanted
    jpeg = pictures.with_segments(pictures.jpeg(pictures.stored_as(upright, orientation), subsampling='420'), pictures.exif_segment(orientation))
    got = boxes(server, jpeg)
    wanted = [faces.corners(face) for face in json.loads(wanted)['faces']]
    assert faces.found(wanted, got) == len(wanted) == len(got)
    answer = server.post(REDACT + '&autorotate=false&format=png', jpeg)
    assert answer.status_code == 200 and answer.headers['X-Regions'] == str(len(wanted))


@pytest.mark.parametrize('form_, how', (('JPEG', {'quality': 30}), ('PNG', {}), ('WEBP', {'quality': 90}), ('AVIF', {'quality': 80})))
def test_formats(server, form_, how):
    try:
        body = faces.again(faces.photograph(), form_, **how)
    except KeyError:
        pytest.skip('no encoder')
    wanted = faces.reference()
    answer = server.post('/detect', body)
    if answer.status_code == 415:
        pytest.skip('not read by this build')
    assert faces.found(wanted, [faces.corners(face) for face in answer.json()['faces']], 0.6) == len(wanted)


def gray(picture):
    return picture.convert('L')


def with_alpha(picture):
    picture = picture.convert('RGB')
    picture.putalpha(200)
    return picture


def test_grey_alpha_and_16_bits(server):
    body, wanted = faces.photograph(), faces.reference()
    wide = anatomy.pixels(body).astype(numpy.uint16) * 257
    for data in (faces.again(body, 'PNG', gray), faces.again(body, 'JPEG', gray, quality=95), faces.again(body, 'PNG', with_alpha), pictures.png(wide, depth=16)):
        assert faces.found(wanted, boxes(server, data), 0.6) >= len(wanted) - 1
        answer = server.post(REDACT, data)
        assert answer.status_code == 200 and int(answer.headers['X-Regions']) >= len(wanted) - 1
    eight, sixteen = boxes(server, faces.again(body, 'PNG')), boxes(server, pictures.png(wide, depth=16))
    assert faces.found(eight, sixteen, 0.9) == len(eight) == len(sixteen)


def test_half_and_mirrored(server):
    body, wanted = faces.photograph(), faces.reference()
    half = boxes(server, faces.again(body, 'PNG', lambda picture: picture.resize((250, 166))))
    assert faces.found([[side / 2 for side in box] for box in wanted], half, 0.5) >= len(wanted) - 1
    mirrored = boxes(server, faces.again(body, 'PNG', lambda picture: picture.transpose(0)))
    assert faces.found([[500 - box[2], box[1], 500 - box[0], box[3]] for box in wanted], mirrored, 0.6) == len(wanted)


@pytest.mark.parametrize('width,height', ((1, 1), (1, 32768), (32768, 1), (2, 700), (33, 31)))
def test_odd_sizes(server, width, height):
    body = pictures.png(numpy.full((height, width, 3), 99, numpy.uint8))
    for size in ('64', '1280', 'full'):
        assert server.post(f'/detect?detect_size={size}', body).json() == {'width': width, 'height': height, 'faces': []}
    for data in (body, pictures.jpeg(numpy.full((height, width, 3), 99, numpy.uint8))):
        check_problem(server.post(REDACT, data), 'no-region', 'detect', 'no face was found')


def test_size_and_threshold(server):
    body = faces.photograph()
    counts = [len(boxes(server, body, f'detect_threshold=0.5&detect_size={size}')) for size in (64, 640, 'full')]
    assert counts[0] < min(counts[1:])
    assert len(boxes(server, body, 'detect_threshold=0.2')) >= len(boxes(server, body)) > len(boxes(server, body, 'detect_threshold=0.9'))


# --- high effort ---------------------------------------------------------------------------
HIGH = 'detect_effort=high'


def has(found, box):
    return any(numpy.allclose(box, other, atol=0.011) for other in found)


def test_high_effort_finds_all_that_normal_finds(server):
    small = faces.again(faces.photograph(), 'JPEG', lambda picture: picture.resize((80, 53)))
    counts = []
    for body in (faces.photograph(), faces.large(), small):
        normal, high = (boxes(server, body, query) for query in ('', HIGH))
        assert all(has(high, box) for box in normal)
        counts.append((len(normal), len(high)))
    assert counts[2][1] > counts[2][0], counts
    answer = server.post('/detect?' + HIGH, small).json()['faces']
    scores = [face['score'] for face in answer]
    assert scores == sorted(scores, reverse=True)
    for face in answer:
        assert face['landmarks'][0][0] < face['landmarks'][1][0] and face['landmarks'][3][0] < face['landmarks'][4][0]


def test_high_effort_and_the_mirror_image(server):
    """What only the mirror image shows lies where it is in the picture."""
    wanted = faces.reference()
    got = boxes(server, faces.photograph(), f'{HIGH}&detect_size=full')
    assert all(faces.found(wanted, [box], 0.3) for box in got) and faces.found(wanted, got, 0.7) == len(wanted)


@pytest.mark.parametrize('name', [name for name in FORMS if name in ('photograph', 'gray', 'png', 'turned') or '4:2:2' in name])
def test_every_answer_of_high_effort_has_the_same_faces(server, name):
    body = FORMS[name]() if callable(FORMS[name]) else FORMS[name]
    page = server.post(f'/detect?{HIGH}', body).json()['faces']
    for more in ('', '&mode=redact&format=png', '&colorspace=linear'):
        answer = server.post(f'/pixelate?block=8&detect=faces,text&detect_report=true&{HIGH}{more}', body)
        assert answer.status_code == 200, answer.text
        shown = [[float(number) for number in face.split(',')] for face in answer.headers['X-Faces'].split('; ')]
        assert numpy.allclose(shown, [[face[key] for key in ('x', 'y', 'width', 'height', 'score')] for face in page], atol=0.051)


def test_high_effort_is_for_some(server):
    check_problem(server.post(f'/blur?detect=codes&{HIGH}', BLANK), 'bad-parameter', 'detect_effort', 'high is for faces, plates and persons')
    check_problem(server.post(f'/detect?detect=text&{HIGH}', BLANK), 'bad-parameter', 'detect_effort', 'high is for faces, plates and persons')
    assert server.post('/detect?detect=text&detect_effort=normal', BLANK).status_code == 200
    assert server.post(f'/detect?detect=faces,text&{HIGH}', BLANK).json()['text'] == []


# --- it fails closed ---------------------------------------------------------------------
@pytest.mark.parametrize('query,parameter,says', (
    ('detect=cats', 'detect', 'detect is cats, it must be none, faces, text, codes, plates or persons; several names, each once, are separated by commas'), ('detect_margin=5', 'detect_margin', 'detect_margin needs detect'), ('detect_size=full', 'detect_size', 'needs'), ('detect_effort=high', 'detect_effort', 'needs'), ('detect=faces&detect_effort=low', 'detect_effort', 'normal or high'),
    ('detect_report=1', 'detect_report', 'needs'), ('detect_shape=box', 'detect_shape', 'needs'), ('detect_threshold=0.6', 'detect_threshold', 'needs'),
    ('detect=faces&detect_size=63', 'detect_size', 'detect_size is 63, it must be full or from 64 to 16384'), ('detect=faces&detect_size=Full', 'detect_size', 'must be full'),
    ('detect=faces&detect_threshold=1', 'detect_threshold', 'from 0.05 to 0.95'), ('detect=faces&detect_threshold=text:0.5', 'detect_threshold', 'has a number for text, which detect lacks'),
    ('detect=faces&detect_threshold=cats:0.5', 'detect_threshold', "has cats:0.5, whose name is no detector's"), ('detect=faces&detect_threshold=0.5,faces:2', 'detect_threshold', 'is 2 for faces, it must be from 0.05'), ('detect=faces&detect_margin=501', 'detect_margin', 'from 0 to 500 percent'),
    ('require=1', 'require', 'require needs a region, a list, a mask or detect'),
))
def test_wrong_parameters(server, query, parameter, says):
    check_problem(server.post(f'/blur?{query}', BLANK), 'bad-parameter', parameter, says)


def test_detect_takes_no_regions(server):
    for query in ('region=1,1,9,9', 'mode=redact', 'require=1', 'quality=5'):
        check_problem(server.post(f'/detect?{query}', BLANK), 'bad-parameter', query.split('=')[0], 'unknown parameter')


def test_detect_names_what_it_finds(server):
    body = faces.photograph()
    assert server.post('/detect?detect=faces', body).content == server.post('/detect', body).content
    for value in ('none', 'cats', 'faces,faces', 'faces,', ''):
        check_problem(server.post(f'/detect?detect={value}', body), 'bad-parameter', 'detect', 'it must be faces')


def test_a_required_region_of_a_list(server):
    def ask(regions):
        return server.post('/blur?require=1', form(('image"; filename="p', BLANK), ('regions', regions)), headers={'Content-Type': 'multipart/form-data; boundary=simple'})
    assert ask('[{"box": [1, 2, 3, 4]}]').status_code == 200
    check_problem(ask('[]'), 'no-region', 'regions', 'the list is empty')


def test_in_a_form(server):
    fields = [('detect', 'faces'), ('mode', 'redact'), ('image"; filename="p', faces.photograph()), ('detect_margin', '10')]
    answer = server.post('/pixelate?block=8', form(*fields), headers={'Content-Type': 'multipart/form-data; boundary=simple'})
    assert answer.content == server.post(f'{REDACT}&detect_margin=10', faces.photograph()).content


def test_a_model_says_so(server):
    assert server.get('/version').json()['faces'] is True and server.get('/openapi.json').json()['x-faces'] is True


def test_a_damaged_model(start, tmp_path):
    data = bytearray(faces.MODEL.read_bytes())
    data[100000] ^= 1
    (tmp_path / 'damaged').write_bytes(data)
    daemon = start('--face-model', str(tmp_path / 'damaged'))
    for target in ('/detect', REDACT):
        answer = daemon.post(target, faces.photograph())
        assert answer.status_code == 500 and 'faces cannot be searched for' in answer.json()['detail'], answer.text
    assert daemon.post('/blur', BLANK).status_code == 200
    daemon.reports()
    daemon.stop()


def test_no_time(start):
    daemon = start('--work-timeout', '100ms', '--max-pixels', '60MP')
    big = faces.again(faces.photograph(), 'JPEG', lambda picture: picture.resize((6000, 3984)))
    for target in ('/detect?detect_size=full', f'{REDACT}&detect_size=full'):
        assert 'the time limit' in check_late(lambda: daemon.post(target, big), 5).json()['detail']
    daemon.stop()


def test_no_memory(start):
    daemon = start('--memory', '100MiB')
    big = faces.again(faces.photograph(), 'JPEG', lambda picture: picture.resize((3000, 1992)))
    assert daemon.post('/pixelate?block=8&region=1,1,99,99', big).status_code == 200
    check_problem(daemon.post(f'{REDACT}&detect_size=full', big), 'limit-exceeded', says='of memory')
    daemon.stop()


def test_metrics(start):
    daemon = start()
    daemon.post('/detect', faces.photograph())
    daemon.post(REDACT, faces.photograph())
    daemon.post('/blur', BLANK)
    page = daemon.metrics()
    assert page['blurd_faces_total{detector="faces"}'] == 12 and page['blurd_face_searches_total{detector="faces"}'] == 2
    assert page['blurd_stage_seconds_count{stage="detect"}'] == 2 and page['blurd_stage_seconds_count{stage="filter"}'] == 3
    daemon.wait_for_line('path=/detect .*faces=6 .*detect_ms=')
    daemon.stop()
