# SPDX-License-Identifier: MIT
"""mode=redact with fill=ring or a colour: pictures that differ only inside of the regions give the same bytes, whatever their mean
is there. The colours themselves are checked, too."""

import io
import json

import numpy
import pytest
from PIL import Image

import anatomy
import areas
import foreign
import pictures
from filtering import ask, ask_png
from problems import check_problem
from test_multipart import form
from test_redact import enlarged, rounded_out, WIDTH, HEIGHT

FILLS = ('ring', '000000', '%23c0801f60')
BOX, FAR, ELLIPSE = '50,34,30,24', '100,70,20.5,11', 'ellipse:20.3,15,25,30.5'
POLYGON = 'polygon:5,60,60,8,50,58,30,62,8,70'
REGIONS = {'one': (BOX,), 'two': (BOX, FAR), 'touching': (BOX, '80,34,20,24', FAR), 'nested': ('40,24,60,50', BOX, FAR), 'ellipse': (ELLIPSE, FAR),
           'polygon': (POLYGON,), 'border': ('0,80,60,60', ELLIPSE)}
LOOKS = ('/blur?sigma=3', '/pixelate?block=8')
OTHERS = ('/pipeline?ops=sharpen:sigma=2|blur:sigma=9|resize:width=60', '/crop?width=120', '/rotate?angle=90', '/resize?width=70', '/placeholder?')
KINDS = {  # blocks, pixels around them in RGB
    'png': ((1, 1), (0, 0)), 'png 16': ((1, 1), (0, 0)), 'alpha': ((1, 1), (0, 0)), 'webp': ((16, 16), (16, 16)), 'gray': ((8, 8), (0, 0)),
    '444': ((8, 8), (0, 0)), '420': ((16, 16), (1, 1)), 'progressive': ((16, 16), (1, 1))}


def hidden(kind, regions, invert=False):
    """The pixels that do not show: all that the regions touch, and the rest of their blocks."""
    fine = numpy.zeros((HEIGHT * 8, WIDTH * 8), bool)
    for region in regions:
        fine |= areas.mask(enlarged(region, 8), WIDTH * 8, HEIGHT * 8)
    fine ^= invert
    return rounded_out(fine.reshape(HEIGHT, 8, WIDTH, 8).any((1, 3)), KINDS[kind][0], (0, 0))


def make(kind, picture):
    if kind == 'webp':
        return foreign.write('webp', picture, '-lossless')
    if kind.startswith('png') or kind == 'alpha':
        return pictures.png(picture.astype(int) * (257 if '16' in kind else 1), depth=16 if '16' in kind else 8)
    if kind == 'gray':
        return pictures.jpeg(picture[..., :1], 90)
    return pictures.jpeg(picture, 90, '444' if kind == '444' else '420', progressive=kind == 'progressive')


def bodies_of(kind, regions, invert=False):
    """The same but for what is hidden, which is dark, light or noise."""
    channels = 4 if kind == 'alpha' else 3
    inside, random = hidden(kind, regions, invert), numpy.random.default_rng(1)
    contents = [numpy.full((HEIGHT, WIDTH, channels), 20), numpy.full((HEIGHT, WIDTH, channels), 235),
                random.integers(0, 256, (HEIGHT, WIDTH, channels))]
    bodies = []
    for content in contents:
        picture = pictures.photograph(WIDTH, HEIGHT, channels).copy()
        picture[inside] = content[inside]
        bodies.append(make(kind, picture))
    assert len(set(bodies)) == len(bodies)
    return bodies


def check_same(server, target, bodies, *parts):
    headers = {'Content-Type': 'multipart/form-data; boundary=simple'} if parts else {}
    answers = {ask(server, target, form(('image"; filename="p', body), *parts) if parts else body, headers=headers).content for body in bodies}
    assert len(answers) == 1, f'{target}: what was inside shows in the answer'
    return answers.pop()


@pytest.fixture(autouse=True)
def readable(request):
    kind = request.node.callspec.params.get('kind') if hasattr(request.node, 'callspec') else None
    if kind == 'webp' and kind not in request.getfixturevalue('server').get('/version').json()['formats']['reads']:
        pytest.skip(f'built without {kind}')


# --- nothing of the content remains ------------------------------------------------------------
@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('regions', REGIONS)
@pytest.mark.parametrize('fill', FILLS)
def test_every_picture(server, kind, regions, fill):
    bodies = bodies_of(kind, REGIONS[regions])
    for look in LOOKS:
        for more in ('', '&format=png', '&feather=6'):
            check_same(server, f'{look}&mode=redact&fill={fill}&{areas.query(*REGIONS[regions])}{more}', bodies)


@pytest.mark.parametrize('kind', ('png', '420', 'progressive'))
@pytest.mark.parametrize('target', OTHERS)
@pytest.mark.parametrize('fill', FILLS)
def test_every_endpoint(server, kind, target, fill):
    for regions in ('two', 'nested'):
        check_same(server, f'{target}&mode=redact&fill={fill}&{areas.query(*REGIONS[regions])}', bodies_of(kind, REGIONS[regions]))


@pytest.mark.parametrize('kind', ('png', 'alpha', '444', '420', 'progressive'))
@pytest.mark.parametrize('more', ('', '&colorspace=rgb', '&colorspace=linear', '&quality=90', '&progressive=true', '&subsampling=444', '&backend=cpu'))
def test_every_way(server, kind, more):
    bodies = bodies_of(kind, REGIONS['two'])
    for fill in FILLS:
        check_same(server, f'/pixelate?block=5&mode=redact&fill={fill}&{areas.query(*REGIONS["two"])}{more}', bodies)


@pytest.mark.parametrize('kind', ('png', '444', '420', 'progressive'))
@pytest.mark.parametrize('fill', FILLS)
def test_inverted(server, kind, fill):
    regions = ('48,32,64,48', 'ellipse:10,20,40,50')
    bodies = bodies_of(kind, regions, True)
    for look in LOOKS:
        for more in ('', '&format=png', '&feather=3'):
            check_same(server, f'{look}&mode=redact&fill={fill}&{areas.query(*regions, invert="true")}{more}', bodies)


@pytest.mark.parametrize('kind', ('png', '444', '420', 'progressive'))
@pytest.mark.parametrize('fill', FILLS)
def test_parts_of_a_form(server, kind, fill):
    """A list of regions, and a mask of several parts."""
    regions = REGIONS['two']
    bodies = bodies_of(kind, regions)
    listed = json.dumps([{'box': [float(number) for number in region.split(',')]} for region in regions])
    mask = pictures.png(hidden('png', regions).astype(numpy.uint8) * 99)
    for look in LOOKS:
        target = f'{look}&mode=redact&fill={fill}'
        given = ask(server, f'{target}&{areas.query(*regions)}', bodies[0]).content
        assert check_same(server, target, bodies, ('regions', listed)) == given
        check_same(server, target, bodies, ('mask"; filename="m.png', mask))
        check_same(server, f'{target}&region={ELLIPSE}', bodies, ('mask"; filename="m.png', mask))


ENCODERS = {
    'plain': {}, 'strong': {'filters': (4, 2, 0, 1, 3), 'level': 9, 'piece': 8192}, 'stored': {'filters': (2,), 'level': 0, 'piece': 65535},
    'passes': {'filters': (3, 1), 'level': 6, 'interlaced': True}, 'Pillow': None, 'optimised by Pillow': None}
ANSWERS = {'png': ('', '&effort=0', '&effort=4', '&png_reduce=false'), 'jpeg': ('',), 'webp': ('', '&lossless=true')}


def encoded_by(encoder, picture):
    if ENCODERS[encoder] is not None:
        return pictures.png(picture, **ENCODERS[encoder])
    output = io.BytesIO()
    Image.fromarray(picture[..., 0] if picture.shape[2] == 1 else picture).save(output, 'PNG', optimize=encoder != 'Pillow')
    return output.getvalue()


@pytest.mark.parametrize('channels', (1, 3, 4))
@pytest.mark.parametrize('content', ('photograph', 'graphic'))
@pytest.mark.parametrize('written', ANSWERS)
def test_how_a_png_was_encoded_does_not_show(server, channels, content, written):
    """Where and how compressed data goes on behind a region tells what the region holds (docs/adr/0086): nothing of an answer is copied
    from there. Several strips of the answer (256 KiB) lie behind the region."""
    if written not in server.get('/version').json()['formats']['writes']:
        pytest.skip(f'built without {written}')
    width, height, random = 640, 500, numpy.random.default_rng(1)
    picture = pictures.photograph(width, height, channels).copy()
    if content == 'graphic':
        picture[...] = picture[::20, ::20].repeat(20, 0).repeat(20, 1) // 16 * 16
    bodies = []
    for encoder in ENCODERS:
        picture[60:84, 100:300] = random.integers(0, 1 << random.integers(1, 8), (24, 200, channels))
        bodies.append(encoded_by(encoder, picture))
    assert len({body[-200:-20] for body in bodies}) == len(bodies), 'their ends are equal: a copied end would not be noticed'
    for look in ('/redact?fill=000000', '/pixelate?block=8&mode=redact&fill=ring'):
        for more in ANSWERS[written]:
            check_same(server, f'{look}&region=100,60,200,24&format={written}{more}', bodies)


@pytest.mark.parametrize('kind', ('png', '420'))
def test_the_mean_does_show(server, kind):
    """So the tests above can fail."""
    for regions in REGIONS.values():
        answers = {ask(server, f'/blur?sigma=3&mode=redact&{areas.query(*regions)}', body).content for body in bodies_of(kind, regions)}
        assert len(answers) == 3


# --- the colours ------------------------------------------------------------------------------------
def around(picture, regions, index):
    """The mean of the ring of a region of whole pixels, in a picture without alpha."""
    inside = hidden('png', regions)
    rows, columns = numpy.nonzero(hidden('png', regions[index:index + 1]))
    ring = numpy.zeros((HEIGHT, WIDTH), bool)
    ring[max(rows.min() - 8, 0):rows.max() + 9, max(columns.min() - 8, 0):columns.max() + 9] = True
    return numpy.floor(picture[ring & ~inside].mean(0) + 0.5).astype(int)


@pytest.mark.parametrize('depth', (8, 16))
def test_a_ring(server, depth):
    """Each region has a colour of its own, which none of its neighbours has a part in."""
    step = 1 if depth == 8 else 257
    regions = ('50,34,30,24', '80,34,20,24', '0,0,20,10')
    picture = pictures.photograph(WIDTH, HEIGHT).astype(int) * step
    result = ask_png(server, f'/blur?sigma=0.1&mode=redact&fill=ring&{areas.query(*regions)}', pictures.png(picture, depth=depth), depth)
    for i, (x, y) in enumerate(((60, 45), (90, 45), (5, 5))):
        assert (result[y, x] == around(picture, regions, i)).all(), regions[i]
    inside = hidden('png', regions)
    assert (result[~inside] == picture[~inside]).all()


@pytest.mark.parametrize('channels,depth', [(c, d) for d in (8, 16) for c in (1, 2, 3, 4)])
def test_a_colour(server, channels, depth):
    step = 1 if depth == 8 else 257
    luma = 0.299 * 0xc0 + 0.587 * 0x80 + 0.114 * 0x1f
    colour = numpy.array({1: [luma], 2: [luma, 0x60], 3: [0xc0, 0x80, 0x1f], 4: [0xc0, 0x80, 0x1f, 0x60]}[channels]) * step
    body = pictures.png(pictures.photograph(WIDTH, HEIGHT, channels).astype(int) * step, depth=depth)
    for text in ('c0801f60', '%23C0801F60'):
        result = ask_png(server, f'/blur?sigma=0.1&mode=redact&fill={text}&region={BOX}', body, depth)
        assert (result[34:58, 50:80] == (colour + 0.5).astype(int)).all()
    linear = ask_png(server, f'/blur?sigma=0.1&colorspace=linear&mode=redact&fill=c0801f60&region={BOX}', body, depth)
    assert numpy.abs(linear[36:56, 52:78] - colour).max() <= step


@pytest.mark.parametrize('subsampling', ('420', '444'))
def test_a_colour_in_a_jpeg(server, subsampling):
    body = pictures.jpeg(pictures.photograph(WIDTH, HEIGHT), 90, subsampling)
    for more, most in (('', 4), ('&format=png', 1), ('&colorspace=rgb', 4)):
        answer = ask(server, f'/blur?sigma=0.1&mode=redact&fill=c0801f&region=48,32,32,32{more}', body).content
        assert numpy.abs(anatomy.pixels(answer)[34:62, 50:78].astype(int) - (0xc0, 0x80, 0x1f)).max() <= most


def test_without_a_ring_it_is_black(server):
    for body in (pictures.png(pictures.photograph(WIDTH, HEIGHT)), pictures.jpeg(pictures.photograph(WIDTH, HEIGHT), 90, '420')):
        for region in ('', '&region=0,0,100%25,100%25', '&region=0,0,80,200&region=80,0,200,200'):
            pixels = anatomy.pixels(ask(server, f'/blur?sigma=0.1&mode=redact&fill=ring{region}', body).content)
            assert pixels.max() <= 1
    alpha = ask_png(server, '/blur?sigma=0.1&mode=redact&fill=ring', pictures.png(pictures.photograph(WIDTH, HEIGHT, 4)))
    assert (alpha == (0, 0, 0, 255)).all()


def test_tiles_vary_the_colour(server):
    """The look of /pixelate is laid over the colour, by place alone."""
    body = pictures.png(pictures.photograph(WIDTH, HEIGHT))
    tiles = ask_png(server, '/pixelate?block=8&mode=redact&fill=808080&region=48,32,64,48', body)[32:80, 48:112]
    assert 24 >= numpy.abs(tiles - 0x80).max() > 8 and len(numpy.unique(tiles)) > 10


def test_mean_is_the_default(server):
    for kind in ('png', '420'):
        body = bodies_of(kind, REGIONS['two'])[0]
        target = f'/blur?sigma=3&mode=redact&{areas.query(*REGIONS["two"])}'
        assert ask(server, f'{target}&fill=mean', body).content == ask(server, target, body).content


# --- refusals -----------------------------------------------------------------------------------
@pytest.mark.parametrize('fill', ('', 'Ring', 'black', '%230000', '00000', '0000000', 'gggggg', '000000,', 'ring&fill=ring'))
def test_wrong_fills(server, fill):
    check_problem(server.post(f'/blur?mode=redact&region={BOX}&fill={fill}', pictures.small_png()), 'bad-parameter', 'fill')


def test_the_default_needs_nothing(server):
    assert server.post('/blur?fill=mean', pictures.small_png()).status_code == 200


@pytest.mark.parametrize('fill', ('ring', '000000'))
def test_only_with_redaction(server, fill):
    for target in ('/blur?', '/pixelate?mode=plain&', '/pipeline?ops=blur&', '/crop?', '/placeholder?'):
        check_problem(server.post(f'{target}fill={fill}', pictures.small_png()), 'bad-parameter', 'fill', 'fill needs mode=redact')
    for target in ('/sharpen', '/stats', '/detect'):
        check_problem(server.post(f'{target}?fill={fill}', pictures.small_png()), 'bad-parameter', 'fill', 'unknown parameter')
