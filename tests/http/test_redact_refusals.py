# SPDX-License-Identifier: MIT
"""mode=redact that would hide nothing, or not all, is refused: with each other feature, by the CPU and by a GPU. A picture
in place of the refusal is the failure, so that status, problem and parameter are all compared."""

import functools
import json

import numpy
import pytest

import anatomy
import daemon
import fake_gpu
import faces
import foreign
import heif
import pictures
from fake_jpeg import BY_GPU, await_places, jpeg_options, launch_jpeg
from problems import check_problem
from test_multipart import form
from test_orientation import marked

WIDTH, HEIGHT = 64, 48  # of whole blocks
PIXELS = pictures.photograph(WIDTH, HEIGHT)
PICTURES = {'png': pictures.png(PIXELS), 'gray': pictures.jpeg(PIXELS[..., :1]), 'turned': marked(PIXELS, 6, subsampling='420'),
            'progressive': pictures.jpeg(PIXELS, subsampling='420', progressive=True),
            **{name: pictures.jpeg(PIXELS, subsampling=name) for name in ('420', '444')}}
OTHERS = ('webp', 'avif', 'heic', 'heic turned')  # of codecs in processes of their own, which other programs write


@functools.cache
def picture(name):
    if name == 'heic turned':
        file = heif.File('heic')
        crop = heif.clap((HEIGHT, 1), (WIDTH, 1), (HEIGHT - 64, 2), (0, 1))  # the encoder wants 64 columns
        file.picture(heif.coded('heic', numpy.rot90(PIXELS, -1)), 64, WIDTH, crop, heif.box(b'irot', b'\1'))
        return file.write()
    return PICTURES.get(name) or foreign.write(name, PIXELS)


def need(way, what, kind):
    if kind and kind not in way.get('/version').json()['formats'][what]:
        pytest.skip(f'built without {kind}')


@pytest.fixture(autouse=True)
def readable(request):
    name = request.node.callspec.params.get('name') if hasattr(request.node, 'callspec') else None
    if name in OTHERS:
        need(request.getfixturevalue('way'), 'reads', name.partition(' ')[0])


def mask(value):
    return 'mask"; filename="m.png', pictures.png(numpy.full((HEIGHT, WIDTH), value, numpy.uint8))


def entries(document):
    return 'regions', json.dumps(document)


EVERYWHERE, CORNER = '&region=0,0,100%25,100%25', '&region=ellipse:63.5,47.5,40,40'
LOW = {'threshold': 50, 'regions': [{'box': [8, 8, 20, 20], 'score': 0.98}]}
HALVES = [{'box': [0, 0, 64, 24]}, {'box': [0, 24, 64, 24]}]
# What hides nothing: query, parts of the form, problem, parameter.
NOTHING = {
    'a mask of zeros': ('', [mask(0)], 'no-region', 'mask'),
    'a full mask inverted': ('&invert=1', [mask(255)], 'no-region', 'invert'),
    'an empty list': ('', [entries([])], 'no-region', 'regions'),
    'an empty list inverted': ('&invert=1', [entries([])], 'no-region', 'regions'),
    'a list below its threshold': ('', [entries(LOW)], 'no-region', 'regions'),
    'a list below its threshold and a mask of zeros': ('', [entries(LOW), mask(0)], 'no-region', 'regions'),
    'a region everywhere inverted': (EVERYWHERE + '&invert=1', [], 'no-region', 'invert'),
    'a list everywhere inverted': ('&invert=1', [entries(HALVES)], 'no-region', 'invert'),
    'a list everywhere with a mask inverted': ('&invert=1', [mask(9), entries(HALVES)], 'no-region', 'invert'),
    'a shape without a pixel': (CORNER, [], 'bad-parameter', 'region'),
    'a shape without a pixel beside another': (CORNER + '&region=1,1,9,9', [], 'bad-parameter', 'region'),
    'a shape without a pixel inverted': (CORNER + '&invert=1', [], 'bad-parameter', 'region'),
    'an entry without a pixel': ('', [entries([{'box': [1, 1, 9, 9]}, {'ellipse': [63.5, 47.5, 40, 40]}])], 'bad-parameter', 'regions'),
    'a region off the picture': ('&region=300,300,9,9', [], 'bad-parameter', 'region'),
    'metadata that stay': ('&region=1,1,9,9&metadata=keep', [], 'bad-parameter', 'metadata'),
}
TARGETS = ['/pixelate?block=8', '/blur?sigma=2&quality=80', '/pixelate?block=8&format=png', '/blur?sigma=2&format=webp&lossless=true', '/blur?format=avif',
           '/blur?colorspace=rgb', '/blur?colorspace=linear', '/blur?sigma=2&progressive=true', '/blur?lossless=true', '/blur?autorotate=false',
           '/pipeline?ops=blur|pixelate:block=4', '/pipeline?ops=crop:width=50%25|blur', '/pipeline?ops=blur|resize:width=24', '/rotate?angle=90',
           '/resize?width=32', '/blur?backend=cpu']
# Of those, the ones in which the way of another format differs: stored planes or RGB, and what the answer has.
WAYS = ['/blur?sigma=2&quality=80', '/blur?sigma=2&format=webp&lossless=true', '/blur?format=avif', '/blur?colorspace=linear', '/blur?lossless=true',
        '/blur?autorotate=false', '/pipeline?ops=blur|resize:width=24', '/rotate?angle=90']
ALL = (*PICTURES, *OTHERS)
PAIRS = [(name, target) for name in PICTURES for target in TARGETS] + [(name, target) for name in OTHERS for target in WAYS]


@pytest.fixture(scope='module')
def gpu():
    if not fake_gpu.LIBRARY.exists():
        pytest.skip(f'no {fake_gpu.LIBRARY}')
    model = faces.MODEL if faces.MODEL.exists() else 'none'
    with daemon.Daemon(*jpeg_options('--face-model', model, '--work-timeout', '60s'), environment=fake_gpu.settings()) as own:
        await_places(own)
        yield own


@pytest.fixture(params=('cpu', 'gpu'))
def way(request):
    return request.getfixturevalue(request.param)


def ask(own, target, query, parts, body):
    return own.post(target + query, form(('image"; filename="p', body), *parts), headers={'Content-Type': 'multipart/form-data; boundary=simple'})


@pytest.mark.parametrize('name, target', PAIRS)
def test_what_hides_nothing(way, name, target):
    need(way, 'writes', target.partition('format=')[2].partition('&')[0])
    for label, (query, parts, slug, parameter) in NOTHING.items():
        answer = ask(way, target + '&mode=redact', query, parts, picture(name))
        assert answer.status_code != 200, label
        check_problem(answer, slug, parameter)


@pytest.mark.parametrize('name', ALL)
def test_a_placeholder_of_what_is_not_hidden(way, name):
    for label, (query, parts, slug, parameter) in NOTHING.items():
        if 'metadata' not in label:
            check_problem(ask(way, '/placeholder?mode=redact', query, parts, picture(name)), slug, parameter)


@pytest.mark.parametrize('label', [label for label, case in NOTHING.items() if case[2] == 'no-region'])
@pytest.mark.parametrize('name', ALL)
def test_on_request_nothing_is_hidden(way, label, name):
    """With require=false; the answer says so. What cannot be meant is refused even then. An empty list inverted is everything."""
    query, parts = NOTHING[label][:2]
    answer = ask(way, '/pixelate?block=8&mode=redact&require=false&format=png', query, parts, picture(name))
    assert answer.status_code == 200, answer.text
    if label == 'an empty list inverted':
        whole = way.post('/pixelate?block=8&mode=redact&format=png', picture(name))
        assert anatomy.read_png(answer.content).tolist() == anatomy.read_png(whole.content).tolist() and 'covered' not in answer.headers.get('X-Blurd-Notice', '')
        return
    assert answer.headers['X-Blurd-Notice'] == 'no pixel is covered: nothing is filtered or hidden'
    plain = way.post('/pixelate?block=1&format=png', picture(name)).content
    assert name != 'png' or (anatomy.read_png(answer.content) == anatomy.read_png(plain)).all()
    kept = ask(way, '/pixelate?block=8&mode=redact&require=false', query, parts, picture(name))
    assert kept.headers['X-Blurd-Notice'] == answer.headers['X-Blurd-Notice']
    if name == '420' and way.process.args.count('--jpeg-codec'):
        assert kept.headers['X-Backend'] == BY_GPU


@pytest.mark.parametrize('name', ALL)
@pytest.mark.parametrize('mode', ('plain', 'redact'))
def test_a_plain_filter_may_require_it(way, mode, name):
    for label, (query, parts, slug, parameter) in NOTHING.items():
        if slug == 'no-region' or (mode == 'redact' and parameter != 'metadata'):
            check_problem(ask(way, f'/blur?mode={mode}&require=true', query, parts, picture(name)), slug, parameter)
    shape = ask(way, '/blur?mode=plain&require=true', CORNER, [], picture(name))
    check_problem(shape, 'no-region', 'region', 'no pixel of the picture')
    assert ask(way, '/blur?mode=plain', CORNER, [], picture(name)).status_code == 200
    assert ask(way, '/blur?mode=plain&require=true', '', [mask(1)], picture(name)).status_code == 200


def test_blocks_that_are_moved_are_not_hidden(way):
    """lossless=true would copy the blocks: with mode=redact that is refused, with a region and without."""
    for target in ('/crop?width=32&height=32', '/rotate?angle=90', '/pipeline?ops=crop:width=32:height=32|rotate:angle=180'):
        for name in ('420', '444', 'gray', 'progressive', 'turned'):
            for query, parts in (('', []), ('&region=1,1,9,9', []), ('', [mask(255)]), ('', [entries([{'box': [1, 1, 9, 9]}])])):
                check_problem(ask(way, f'{target}&lossless=true&mode=redact', query, parts, picture(name)), 'bad-parameter', 'lossless', 'regions need a new encoding')


# --- faces ----------------------------------------------------------------------------------
SEARCH = ('&detect_size=64', '&detect_size=64&quality=80', '&detect_size=64&format=png', '&detect_size=64&colorspace=rgb', '&detect_size=64&autorotate=false')


@faces.needed
@pytest.mark.parametrize('name, more', [(name, more) for name in (*PICTURES, 'avif', 'heic turned')
                                        for more in (SEARCH if name in PICTURES else SEARCH[:1])])
def test_no_face(way, name, more):
    for query, parts in (('', []), ('&invert=1', []), ('', [entries([])]))[:3 if more == SEARCH[0] and name in ('png', '420') else 1]:
        answer = ask(way, '/pixelate?block=8&mode=redact&detect=faces' + more, query, parts, picture(name))
        check_problem(answer, 'no-region', 'detect', 'no face was found')
    if more != SEARCH[0]:
        return
    both = ask(way, '/pixelate?block=8&mode=redact&detect=faces' + more, '', [mask(0)], picture(name))
    check_problem(both, 'no-region', 'detect')


CROWDS = {'more than 1024 faces': ((40, 40), 0.3), 'more than 8192 places': ((24, 80), 0.1)}  # faces on a side, their width, threshold


@faces.needed
@pytest.mark.parametrize('says', CROWDS)
@pytest.mark.parametrize('target', ('/pixelate?mode=redact&detect=faces', '/blur?detect=faces&format=png&require=false', '/detect?',
                                    '/pixelate?mode=redact&detect=faces&region=1,1,9,9&invert=1', '/rotate?angle=90&lossless=true&mode=redact&detect=faces'))
def test_too_many_faces(cpu, target, says):
    """More than can be hidden: none is shown."""
    crowd, threshold = CROWDS[says]
    answer = cpu.post(f'{target}&detect_size=full&detect_threshold={threshold}', faces.crowd(*crowd))
    check_problem(answer, 'limit-exceeded', None, says)


@faces.needed
@pytest.mark.skipif(daemon.SANITIZED, reason='takes a minute')
def test_too_many_faces_on_a_gpu(start, tmp_path):
    """It searches, and gives the JPEG back: nor does the CPU then show it."""
    model = tmp_path / 'everywhere.face'
    model.write_bytes(faces.model_of_a_face_everywhere())
    own = launch_jpeg(start, '--face-model', model, '--work-timeout', '5m')
    for number, form in enumerate((pictures.png, pictures.jpeg)):
        answer = own.post('/pixelate?mode=redact&detect=faces&detect_size=full', form(pictures.photograph(128, 160)))
        check_problem(answer, 'limit-exceeded', None, 'more than 1024 faces')
        assert own.metrics()['blurd_jpeg_returned_total'] == number


@faces.needed
@pytest.mark.parametrize('mode', ('plain', 'redact'))
def test_no_room_for_the_faces(way, mode):
    """Among so many regions of a list: some would stay visible."""
    full = entries([{'box': [i % 32 * 5, i // 32 * 5, 4, 4]} for i in range(1024)])
    for more in ('', '&format=png&require=false'):
        target = f'/pixelate?block=8&mode={mode}&detect=faces&detect_size=160{more}'
        check_problem(ask(way, target, '', [full], faces.large()), 'limit-exceeded', None, 'more than 1024 regions')
