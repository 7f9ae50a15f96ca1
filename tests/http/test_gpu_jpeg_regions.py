# SPDX-License-Identifier: MIT
"""JPEG to JPEG by a fake GPU with regions, masks, redaction and faces: its files are the CPU's to the byte."""

import json

import numpy
import pytest
from PIL import Image

import daemon
import fake_gpu
import faces
import pictures
from fake_gpu import await_state, is_gone
from fake_jpeg import BY_GPU, ask, await_places, jpeg_options, launch_jpeg
from problems import check_problem
from test_gpu_jpeg import form_440
from test_multipart import form
from test_orientation import marked

pytestmark = fake_gpu.needed

SHAPES = {'gray': lambda w, h: pictures.jpeg(pictures.photograph(w, h, 1)), '440': lambda w, h: form_440(w, h),
          **{s: lambda w, h, s=s: pictures.jpeg(pictures.photograph(w, h), subsampling=s) for s in ('420', '422', '444')}}
WIDTH, HEIGHT = 75, 61
PHOTO = SHAPES['420'](WIDTH, HEIGHT)
BOX, ELLIPSE, POLYGON = '10,9,30.5,20', 'ellipse:20.3,5,40,44', 'polygon:5,50,70,8,60,58,30,12,8,20'
ALL = '&'.join(f'region={region}' for region in (BOX, ELLIPSE, POLYGON))
QUALITY, KEPT = 'quality=80', 'format=jpeg'  # without a quality the blocks outside of the regions are kept
HOWS = pytest.mark.parametrize('how', (QUALITY, KEPT))


@pytest.fixture(scope='module')
def gpu():
    with daemon.Daemon(*jpeg_options(), environment=fake_gpu.settings()) as own:
        await_places(own)
        yield own


def same(gpu, cpu, target, body=PHOTO, name=BY_GPU):
    by, result = ask(gpu, body, target)
    assert by == name and result == ask(cpu, body, target)[1], target
    return result


# --- regions -------------------------------------------------------------------------------
MODES = ('', '&invert=1', '&feather=6', '&feather=3&invert=1', '&mode=redact', '&mode=redact&invert=1', '&mode=redact&feather=5',
         '&mode=redact&feather=4&invert=1')
FILLS = ('&mode=redact&fill=ring', '&mode=redact&fill=c0801f', '&mode=redact&fill=ring&invert=1', '&mode=redact&fill=00ff00&invert=1&feather=3')
TARGETS = ('/blur?sigma=3', '/pixelate?block=6', '/pipeline?ops=blur:sigma=2|pixelate:block=4|blur:sigma=1')
if daemon.SANITIZED:  # the kernels take seconds then
    TARGETS = TARGETS[1:2]


@pytest.mark.parametrize('mode', MODES + FILLS)
@pytest.mark.parametrize('target', TARGETS)
@HOWS
def test_every_mode(gpu, cpu, target, mode, how):
    plain = ask(cpu, PHOTO, f'{target}&{how}')[1]
    assert same(gpu, cpu, f'{target}&{how}&{ALL}{mode}') != plain


@pytest.mark.parametrize('region', (BOX, ELLIPSE, POLYGON, '0,0,100%,100%', '0,0,2,2', '74,60,1,1', '40,40,500,500'))
@pytest.mark.parametrize('mode', ('', '&mode=redact', '&mode=redact&invert=1', *FILLS[:3]))
@HOWS
def test_every_shape(gpu, cpu, region, mode, how):
    same(gpu, cpu, f'/pixelate?block=6&{how}&region={region}{mode}&require=false')


@pytest.mark.parametrize('shape', SHAPES)
@pytest.mark.parametrize('size', ((64, 48), (63, 47), (17, 65), (8, 8)), ids=str)
@HOWS
def test_every_sampling(gpu, cpu, shape, size, how):
    body = SHAPES[shape](*size)
    for mode in ('&feather=3', '&mode=redact', '&mode=redact&invert=1', *FILLS):
        same(gpu, cpu, f'/pixelate?block=8&{how}&region=2,1,5,6&region=ellipse:1,2,9,60{mode}', body)


@HOWS
def test_overlapping_ones(gpu, cpu, how):
    """The last one shows, with the mean of all of its pixels."""
    regions = '&'.join(f'region={i * 3},{i * 2},30,25' for i in range(12))
    for target in ('/pixelate?block=10', '/blur?sigma=0.1'):
        for fill in ('mean', 'ring', '123456'):
            same(gpu, cpu, f'{target}&{how}&{regions}&mode=redact&fill={fill}')


def test_a_whole_picture(gpu, cpu):
    """Without regions nothing is patched."""
    for target in ('/pixelate?block=8&mode=redact', '/blur?sigma=2&mode=redact'):
        same(gpu, cpu, target)
        same(gpu, cpu, f'{target}&{QUALITY}')
        same(gpu, cpu, f'{target}&fill=ring')


@HOWS
def test_before_steps_that_move_pixels(gpu, cpu, how):
    for ops in ('resize:width=40', 'blur:sigma=2|crop:x=10:y=8:width=32:height=32', 'pixelate:block=4|resize:width=32:height=32:fit=fill|rotate:angle=90'):
        for mode in ('&mode=redact', '&mode=redact&invert=1', *FILLS[:2]):
            same(gpu, cpu, f'/pipeline?ops={ops}&{how}&{ALL}{mode}')
    same(gpu, cpu, f'/pipeline?ops=blur:sigma=2|resize:width=33&{how}&{ALL}&feather=4')


def test_many_lines(gpu, cpu):
    """Regions of more rectangles than are sent: the CPU draws them."""
    body = pictures.jpeg(pictures.photograph(600, 600, 1))
    regions = '&'.join(f'region=polygon:{i},0,600,{600 - i},600,{590 - i},{i + 10},0' for i in range(60))
    same(gpu, cpu, f'/pixelate?block=8&{QUALITY}&{regions}', body, 'cuda:0')


@pytest.mark.parametrize('orientation', range(1, 9))
def test_orientation(gpu, cpu, orientation):
    """A picture that is turned has no blocks to keep."""
    body = marked(pictures.photograph(64, 48), orientation, subsampling='420')
    for mode in ('', '&mode=redact', '&feather=3&invert=1', '&mode=redact&invert=1&feather=2', FILLS[0]):
        target = f'/pipeline?ops=pixelate:block=8|blur:sigma=1&{ALL}{mode}'
        same(gpu, cpu, f'{target}&{QUALITY}', body)
        same(gpu, cpu, f'{target}&{QUALITY}&autorotate=false', body)
        same(gpu, cpu, target, body)
        same(gpu, cpu, f'{target}&autorotate=false', body)


def test_a_warning(gpu, cpu):
    target = f'/pixelate?block=8&{QUALITY}&region={BOX}&region=300,300,5,5'
    here, there = gpu.post(target, PHOTO), cpu.post(target, PHOTO)
    notice = [name for name in there.headers if there.headers[name] != here.headers.get(name)]
    assert here.content == there.content and here.headers['X-Backend'] == BY_GPU
    assert any('outside the picture, which have no effect: 1 of 2;' in value for value in here.headers.values()), (dict(here.headers), notice)


def test_a_region_off_the_picture(gpu, cpu):
    touched = f'/pixelate?block=8&{QUALITY}&mode=redact&region={BOX}&region=polygon:74.9,0,200,0,200,60.99,74.95,61'
    assert same(gpu, cpu, touched) != same(gpu, cpu, touched.rpartition('&')[0])  # the last column, beside its pixels' centres
    for region in ('ellipse:74.5,60.5,40,40', '300,300,5,5'):  # no pixel of its box, and far off
        for others in ('', f'&region={BOX}'):
            target = f'/pixelate?block=8&{QUALITY}&mode=redact{others}&region={region}'
            details = [check_problem(own.post(target, PHOTO), 'bad-parameter', 'region')['detail'] for own in (gpu, cpu)]
            assert details[0] == details[1]


# --- parts of a form -----------------------------------------------------------------------
def post_form(own, target, *parts, body=PHOTO):
    return own.post(target, form(('image"; filename="p', body), *parts), headers={'Content-Type': 'multipart/form-data; boundary=simple'})


def same_form(gpu, cpu, target, *parts, body=PHOTO):
    here, there = post_form(gpu, target, *parts, body=body), post_form(cpu, target, *parts, body=body)
    assert here.status_code == there.status_code == 200, here.text
    assert here.headers['X-Backend'] == BY_GPU and here.content == there.content, target
    assert here.headers.get('X-Regions') == there.headers.get('X-Regions')
    return here


def weights():
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    return pictures.png(((x * 3 + y * 5) % 256 * (x > 20)).astype(numpy.uint8))


@pytest.mark.parametrize('mode', MODES + FILLS)
@HOWS
def test_a_mask(gpu, cpu, mode, how):
    mask = ('mask"; filename="m.png', weights())
    same_form(gpu, cpu, f'/pixelate?block=6&{how}{mode}', mask)
    same_form(gpu, cpu, f'/pixelate?block=6&{how}&region={BOX}{mode}', mask)


@HOWS
def test_a_turned_mask(gpu, cpu, how):
    body = marked(pictures.photograph(64, 48), 6, subsampling='420')
    mask = pictures.png((numpy.indices((48, 64)).sum(0) * 7 % 256).astype(numpy.uint8))
    for mode in MODES + FILLS:
        same_form(gpu, cpu, f'/pixelate?block=6&{how}{mode}', ('mask"; filename="m.png', mask), body=body)


@HOWS
def test_an_empty_mask(gpu, cpu, how):
    mask = ('mask"; filename="m.png', pictures.png(numpy.zeros((HEIGHT, WIDTH), numpy.uint8)))
    for mode in MODES + FILLS:
        same_form(gpu, cpu, f'/pixelate?block=6&{how}{mode}&require=false', mask)


@HOWS
def test_a_list(gpu, cpu, how):
    regions = ('regions', json.dumps({'regions': [{'box': [7, 5, 20, 11]}, {'box': [30, 30, 9, 9]}]}))
    for mode in MODES + FILLS:
        assert same_form(gpu, cpu, f'/pixelate?block=6&{how}&region={BOX}{mode}', regions).headers['X-Regions'] == '3'


# --- faces ---------------------------------------------------------------------------------
FACES = '/pixelate?block=8&mode=redact&detect=faces&detect_size=160'


@pytest.fixture(scope='module')
def crowd():
    return faces.large()


@pytest.fixture(scope='module')
def seeing():
    with daemon.Daemon(*jpeg_options('--face-model', faces.MODEL), environment=fake_gpu.settings()) as own:
        await_places(own)
        yield own


HEADERS = ('X-Regions', 'X-Faces', 'Content-Type')


@faces.needed
@pytest.mark.parametrize('more', ('', '&invert=1', '&feather=9', '&region=5,5,30,30', '&fill=ring', '&detect_effort=high&detect_report=1', '&detect_shape=box&detect_margin=60&detect_report=1',
                                  '&detect_threshold=0.95&require=false', '&detect_threshold=0.95&invert=1&require=false'))
@HOWS
def test_faces(seeing, cpu, crowd, more, how):
    if daemon.SANITIZED and more not in ('', '&invert=1'):
        pytest.skip('takes a minute')
    here, there = (own.post(f'{FACES}{more}&{how}', crowd) for own in (seeing, cpu))
    assert here.status_code == there.status_code == 200, here.text
    assert here.headers['X-Backend'] == BY_GPU
    assert here.content == there.content
    assert {name: here.headers.get(name) for name in HEADERS} == {name: there.headers.get(name) for name in HEADERS}
    assert ('detect_threshold' in more) == (here.headers['X-Regions'] == '0') and 'detect;dur=' in here.headers['Server-Timing']


@faces.needed
@pytest.mark.parametrize('orientation', (3, 6))
def test_turned_faces(seeing, cpu, crowd, orientation):
    turn = {3: Image.Transpose.ROTATE_180, 6: Image.Transpose.ROTATE_90}[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    body = faces.again(crowd, 'JPEG', lambda picture: picture.resize((576, 448)).transpose(turn), exif=exif)
    here, there = seeing.post(FACES + '&feather=3', body), cpu.post(FACES + '&feather=3', body)
    assert here.headers['X-Backend'] == BY_GPU and here.content == there.content
    assert here.headers['X-Regions'] == there.headers['X-Regions'] != '0'


@faces.needed
def test_detect(seeing, cpu, crowd):
    for body in (crowd, faces.again(crowd, 'JPEG', lambda picture: picture.convert('L'))):
        here, there = seeing.post('/detect?detect_size=160', body), cpu.post('/detect?detect_size=160', body)
        assert here.headers['X-Backend'] == BY_GPU and here.json() == there.json() and here.json()['faces']


@faces.needed
def test_no_face_is_required(seeing):
    before = seeing.metrics()
    check_problem(seeing.post(FACES, PHOTO), 'no-region', 'detect')
    assert seeing.metrics()['blurd_jpeg_returned_total'] == before['blurd_jpeg_returned_total']


# --- faults --------------------------------------------------------------------------------
CALLS = ('cuMemcpyHtoDAsync', 'cuMemsetD8Async', 'cuLaunchKernel', 'cuStreamWriteValue32')


@pytest.mark.parametrize('call', CALLS)
@HOWS
def test_a_call_that_fails(start, cpu, tmp_path, call, how):
    """Each of the first calls of a request: the CPU does it all."""
    path = tmp_path / 'fault'
    own = launch_jpeg(start, '--gpu-pictures', 1, wanted=1, FAULT_FILE=path)
    target = f'/pixelate?block=6&{how}&{ALL}&mode=redact&feather=3'
    wanted, met = ask(cpu, PHOTO, target)[1], 0
    for number in range(1, 40):
        path.write_text(f'{call}:{number}:2')
        name, result = ask(own, PHOTO, target)
        assert result == wanted, f'{call} {number}: wrong picture from {name}'
        if path.exists():
            path.unlink()
            break
        met += 1
    assert met > 0 and own.metrics()['blurd_jpeg_returned_total'] >= met
    assert ask(own, PHOTO, target) == (BY_GPU, wanted)


KERNELS = 3 + 1 + 22  # of the search: decoding, resizing, the network; then come those that redact


@faces.needed
@pytest.mark.skipif(daemon.SANITIZED, reason='takes minutes')
@pytest.mark.parametrize('fault', ('2', '719:sticky'), ids=('memory', 'sticky'))
def test_a_fault_between_search_and_redaction(start, cpu, tmp_path, fault, crowd):
    """No picture leaves with faces that were found and not hidden. After three engines the daemon pauses."""
    path = tmp_path / 'fault'
    own = launch_jpeg(start, '--gpu-pictures', 1, '--work-timeout', '5m', '--face-model', faces.MODEL, wanted=1, FAULT_FILE=path)
    wanted = cpu.post(FACES, crowd)
    for number in (KERNELS - 2, KERNELS + 3) if 'sticky' in fault else range(1, KERNELS + 9, 3):
        pid = fake_gpu.engine(own)
        path.write_text(f'cuLaunchKernel:{number}:{fault}')
        answer = own.post(FACES, crowd)
        assert not path.exists() and answer.content == wanted.content and answer.headers['X-Regions'] == wanted.headers['X-Regions']
        if 'sticky' in fault:
            assert is_gone(own, pid)
            await_state(own, 'serving')
            await_places(own, 1)
    answer = own.post(FACES, crowd)
    assert answer.headers['X-Backend'] == BY_GPU and answer.content == wanted.content
