# SPDX-License-Identifier: MIT
"""POST /redact: boxes of one colour and nothing else; test_redact.py has what all redactions promise."""

import io
import json

import numpy
import pytest
from PIL import Image

import anatomy
import fake_gpu
import faces
import foreign
import pictures
import writing
from problems import check_problem
from test_multipart import form

MULTIPART = {'Content-Type': 'multipart/form-data; boundary=simple'}
SIDES = (155, 107)
BOX = (32, 16, 48, 40)
REGION = 'region=' + ','.join(map(str, BOX))


def photograph(channels=3):
    return pictures.photograph(*SIDES, channels).astype(numpy.uint8)


def cut(pixels):
    left, top, width, height = BOX
    return pixels[top:top + height, left:left + width]


def outside():
    mask = numpy.ones(SIDES[::-1], bool)
    cut(mask)[...] = False
    return mask


@pytest.mark.parametrize('fill, colour', (('', (0, 0, 0)), ('&fill=ff8000', (255, 128, 0))))
def test_a_solid_box(server, fill, colour):
    body = pictures.png(photograph())
    answer = server.post(f'/redact?{REGION}{fill}', body)
    assert answer.status_code == 200 and answer.headers['Content-Type'] == 'image/png', answer.text
    result = anatomy.read_png(answer.content)
    assert (cut(result) == colour).all() and (result[outside()] == photograph()[outside()]).all()


@pytest.mark.parametrize('channels', (1, 2, 3, 4))
@pytest.mark.parametrize('depth', (8, 16))
@pytest.mark.parametrize('fill', ('000000', 'ring', 'mean'))
def test_the_same_as_redaction_before_a_crop(server, channels, depth, fill):
    """A crop of all is the other way to change nothing."""
    pixels = photograph(channels)
    body = pictures.png(pixels.astype(numpy.uint16) * 257, depth=16) if depth == 16 else pictures.png(pixels)
    answer = server.post(f'/redact?{REGION}&fill={fill}', body)
    other = server.post(f'/crop?width=100%25&height=100%25&mode=redact&{REGION}&fill={fill}', body)
    assert answer.status_code == 200, answer.text
    assert (anatomy.read_png(answer.content) == anatomy.read_png(other.content)).all()


@pytest.mark.parametrize('subsampling', ('420', '422', '444', 'gray'))
@pytest.mark.parametrize('progressive', (False, True))
def test_a_jpeg_keeps_its_blocks(server, subsampling, progressive):
    pixels = photograph(1 if subsampling == 'gray' else 3)
    body = pictures.jpeg(pixels, 90, progressive=progressive, **({} if subsampling == 'gray' else {'subsampling': subsampling}))
    answer = server.post(f'/redact?{REGION}', body)
    assert answer.status_code == 200 and answer.headers['Content-Type'] == 'image/jpeg', answer.text
    before, after = anatomy.pixels(body).astype(int), anatomy.pixels(answer.content).astype(int)
    far = numpy.ones(SIDES[::-1], bool)
    far[:80, :112] = False
    assert (before == after)[far].all() and cut(after)[2:-2, 2:-2].max() <= 3


@pytest.mark.parametrize('kind', foreign.WRITERS)
def test_other_formats(server, kind):
    if kind not in server.get('/version').json()['formats']['reads']:
        pytest.skip(f'built without {kind}')
    answer = server.post(f'/redact?{REGION}&format=png', foreign.write(kind, photograph()))
    assert answer.status_code == 200 and (cut(anatomy.read_png(answer.content))[..., :3] == 0).all(), answer.text


def test_invert_list_and_mask(server):
    body = pictures.png(photograph())
    inverted = anatomy.read_png(server.post(f'/redact?{REGION}&invert=true', body).content)
    assert (inverted[outside()] == 0).all() and (cut(inverted) == cut(photograph())).all()
    plain = server.post(f'/redact?{REGION}', body).content
    listed = server.post('/redact', form(('image"; filename="p', body), ('regions', json.dumps([{'box': BOX}]))), headers=MULTIPART)
    assert listed.content == plain
    mask = pictures.png(numpy.where(outside(), 0, 255).astype(numpy.uint8)[..., None])
    masked = server.post('/redact', form(('image"; filename="p', body), ('mask"; filename="m', mask)), headers=MULTIPART)
    assert masked.status_code == 200 and (anatomy.read_png(masked.content) == anatomy.read_png(plain)).all(), masked.text


@pytest.mark.parametrize('orientation', (3, 6, 8))
def test_orientation(server, orientation):
    turned = pictures.png(pictures.stored_as(photograph(), orientation), before=[('eXIf', pictures.exif(orientation))])
    result = anatomy.read_png(server.post(f'/redact?{REGION}', turned).content)
    assert (cut(result) == 0).all() and (result[outside()] == photograph()[outside()]).all()


@writing.needed
@faces.needed
def test_what_is_found(server):
    """The request of the README."""
    picture = Image.new('RGB', (640, 560), (250, 250, 247))
    picture.paste(writing.letter(20, size=(640, 220))[0], (0, 0))
    picture.paste(faces.composed((500, 332), faces.PLACES), (0, 222))
    body = writing.png(picture)
    answer = server.post('/redact?detect=faces,text', body)
    assert answer.status_code == 200, answer.text
    found = server.post('/detect?detect=faces,text', body).json()
    pixels = numpy.asarray(Image.open(io.BytesIO(answer.content)))
    assert len(found['faces']) == 6 and len(found['text']) >= len(writing.LINES)
    for box in found['text']:
        left, top, right, bottom = (round(edge) for edge in writing.corners(box))
        assert (pixels[top:bottom, left:right] == 0).all()
    for box in found['faces']:
        left, top, right, bottom = (round(edge) for edge in writing.corners(box))
        assert (pixels[top + (bottom - top) // 5:bottom - (bottom - top) // 5, left:right] == 0).all()
    assert (pixels > 200).any()


@pytest.mark.parametrize('target, parameter, says', (
    ('/redact', 'region', 'nothing says what has to go: detect, such as detect=faces,text, a region'),
    (f'/redact?{REGION}&mode=redact', 'mode', 'unknown parameter; redact takes '),
    (f'/redact?{REGION}&metadata=keep', 'metadata', 'redaction drops all metadata'),
    (f'/redact?{REGION}&sigma=3', 'sigma', 'unknown parameter'),
    ('/redact?region=900,5,10,10', 'region', 'lies off the picture'),
    (f'/pipeline?ops=redact&mode=redact&{REGION}', 'ops', 'redact is no step; mode=redact redacts before the first one'),
    (f'/pipeline?ops=crop:width=50%25|redact&{REGION}', 'ops', 'step 2: redact is no step'),
))
def test_refusals(server, target, parameter, says):
    check_problem(server.post(target, pictures.png(photograph())), 'bad-parameter', parameter, says)


@writing.needed
@pytest.mark.parametrize('alpha', (0, 1, 25))
@pytest.mark.parametrize('mode', ('LA', 'RGBA'))
@pytest.mark.parametrize('target', ('/redact?require=false&', '/crop?width=90%25&mode=redact&fill=000000&require=false&'))
def test_what_lies_below_transparent_pixels(server, alpha, mode, target):
    """Nobody sees it, so it cannot be found; but whoever drops alpha would."""
    picture = writing.letter(24)[0].convert(mode)
    picture.putalpha(alpha)
    answer = server.post(f'{target}detect=text&format=png&png_reduce=false', writing.png(picture))
    pixels = numpy.asarray(Image.open(io.BytesIO(answer.content)))
    assert answer.status_code == 200 and (pixels[..., :-1] == 0).all() and set(numpy.unique(pixels[..., -1])) <= {alpha, 255}
    seen = server.post(f'{target}region=0,0,1,2&format=png&png_reduce=false', writing.png(picture))  # the client says itself what has to go
    assert numpy.asarray(Image.open(io.BytesIO(seen.content)))[..., :-1].max() > 200


@writing.needed
def test_nothing_is_found(server):
    """A picture without text is refused, not handed back; unless the client wants it so."""
    body = pictures.png(numpy.full((96, 128, 3), 200, numpy.uint8))
    check_problem(server.post('/redact?detect=text', body), 'no-region', 'detect', 'no text was found')
    answer = server.post('/redact?detect=text&require=false', body)
    assert answer.status_code == 200 and answer.headers['X-Regions'] == '0' and (anatomy.read_png(answer.content) == 200).all()


@fake_gpu.needed
@pytest.mark.parametrize('codec', ('auto', 'gpu'))
def test_the_same_on_a_gpu(server, start, codec):
    daemon = fake_gpu.launch(start, '--jpeg-codec', codec, '--gpu-timeout', '60s')
    for body in (pictures.png(photograph()), pictures.png(photograph(4)), pictures.jpeg(photograph(), 90, subsampling='420')):
        for query in ('', '&fill=ring', '&fill=mean', '&feather=5', '&invert=1'):
            ours, other = daemon.post(f'/redact?{REGION}{query}', body), server.post(f'/redact?{REGION}{query}', body)
            assert ours.status_code == 200 and ours.headers['X-Backend'].startswith('cuda') and ours.content == other.content
    daemon.stop()
