# SPDX-License-Identifier: MIT
"""The part `mask` of a form: a grey PNG that weighs the filter for each pixel."""

import json

import numpy
import pytest

import anatomy
import areas
import filtering
import pictures
from problems import check_problem
from test_multipart import form

WIDTH, HEIGHT = 160, 96
UPRIGHT = pictures.photograph(WIDTH, HEIGHT)
PICTURE = pictures.png(UPRIGHT)
EMBOSS = '/convolve?preset=emboss&bias=50&format=png'
REDACT = '/pixelate?block=8&mode=redact&format=png'
REGION = '30,20,50,40'


def ask(server, mask, target=EMBOSS, body=PICTURE, *more):
    mask = mask if isinstance(mask, bytes) else pictures.png(mask)
    parts = [('image"; filename="p', body), ('mask"; filename="m.png', mask), *more]
    return server.post(target, form(*parts), headers={'Content-Type': 'multipart/form-data; boundary=simple'})


def pixels(answer):
    assert answer.status_code == 200, answer.text
    return anatomy.read_png(answer.content).astype(int)


def hard(region=REGION):
    return areas.mask(region, WIDTH, HEIGHT).astype(numpy.uint8) * 255


def soft():
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    return ((x * 3 + y * 5) % 256).astype(numpy.uint8)


def test_a_png_that_is_not_read(server):
    """Apple's private variant is refused as a mask for what it is, and the parameter is named."""
    mask = pictures.png(hard())
    private = mask[:8] + pictures.chunk('CgBI', bytes(4)) + mask[8:]
    answer = ask(server, private)
    check_problem(answer, 'bad-parameter', parameter='mask', says='CgBI')


@pytest.mark.parametrize('more', ('', '&invert=1', '&feather=5', '&feather=5&invert=1', '&colorspace=linear'))
def test_a_hard_mask_is_a_region(server, more):
    for target in (EMBOSS, '/blur?sigma=3&format=png', '/pipeline?ops=blur:sigma=2|pixelate:block=9&format=png'):
        wanted = server.post(f'{target}{more}&region={REGION}', PICTURE)
        answer = ask(server, hard(), target + more)
        assert answer.status_code == 200 and answer.content == wanted.content


def test_weights(server):
    """Each sample is mixed from that of the picture and that of the filtered one."""
    weight = soft()[:, :, None].astype(float) / 255
    filtered = filtering.ask_png(server, EMBOSS, PICTURE)
    mixed = UPRIGHT * (1 - weight) + filtered * weight
    assert numpy.abs(pixels(ask(server, soft())) - mixed).max() <= 1
    mixed = UPRIGHT * weight + filtered * (1 - weight)
    assert numpy.abs(pixels(ask(server, soft(), EMBOSS + '&invert=1')) - mixed).max() <= 1


def test_one_bit(server):
    bits = areas.mask(REGION, WIDTH, HEIGHT).astype(numpy.uint8)
    assert ask(server, pictures.png(bits, depth=1)).content == ask(server, hard()).content


def test_with_regions(server):
    """The larger weight counts; inverted, both are taken from 255."""
    lists = (('regions', json.dumps([{'box': [90, 10, 40, 40]}])),)
    both = numpy.maximum(soft(), hard('90,10,40,40'))
    for more in ('', '&invert=1', '&feather=3'):
        wanted = ask(server, both, EMBOSS + more)
        answer = ask(server, soft(), EMBOSS + more, PICTURE, *lists)
        assert answer.content == wanted.content and answer.headers['X-Regions'] == '1'
        assert ask(server, soft(), f'{EMBOSS}{more}&region=90,10,40,40').content == wanted.content


@pytest.mark.parametrize('orientation', range(1, 9))
@pytest.mark.parametrize('mode', ('', '&mode=redact'))
def test_turned(server, orientation, mode):
    body = pictures.png(pictures.stored_as(UPRIGHT, orientation), before=[('eXIf', pictures.exif(orientation))])
    target = f'/pixelate?block=8&format=png{mode}'
    mask = soft() * (soft() > 128) * areas.mask(REGION, WIDTH, HEIGHT)
    for turned in ('true', 'false'):
        answer = pixels(ask(server, mask, f'{target}&autorotate={turned}', body))
        if turned == 'false':
            seen = pictures.stored_as(UPRIGHT, orientation)
            untouched = pictures.stored_as(mask, orientation) == 0
        else:
            seen, untouched = UPRIGHT, mask == 0
        assert (answer == seen)[untouched].all() and not (answer == seen).all()
        if turned == 'true' and not mode:
            assert (answer == pixels(ask(server, mask, target))).all()


def test_redaction(server):
    """All that is not 0 is redacted, as one region of one colour."""
    mask = numpy.zeros((HEIGHT, WIDTH), numpy.uint8)
    mask[10:30, 10:30], mask[50:80, 90:140], mask[5, 150] = 1, 200, 255
    result = pixels(ask(server, mask, '/blur?sigma=0.5&mode=redact&format=png&edge=clamp'))
    inside = mask > 0
    assert (result == UPRIGHT)[~inside].all()
    flat = pixels(ask(server, mask, '/pixelate?block=1&mode=redact&format=png'))
    other = UPRIGHT.copy()
    other[inside] = numpy.roll(UPRIGHT[inside], 3, 0)  # the same mean: nothing of it shows
    assert (pixels(ask(server, mask, '/pixelate?block=1&mode=redact&format=png', pictures.png(other))) == flat).all()
    inverted = pixels(ask(server, 255 - mask, REDACT + '&invert=1'))
    assert (inverted == UPRIGHT)[~inside].all()
    almost = pixels(ask(server, numpy.where(inside, 0, 254).astype(numpy.uint8), REDACT + '&invert=1'))
    assert not (almost == UPRIGHT).all(-1)[~inside].all()


def test_redaction_with_regions(server):
    mask = hard('ellipse:10,10,30,30')
    result = pixels(ask(server, mask, REDACT + '&region=90,50,30,30'))
    covered = (mask > 0) | areas.mask('90,50,30,30', WIDTH, HEIGHT)
    assert (result == UPRIGHT)[~covered].all() and not (result == UPRIGHT).all(-1)[covered].any()


@pytest.mark.parametrize('subsampling', ('444', '420'))
def test_blocks_of_a_jpeg(server, subsampling):
    body = pictures.jpeg(UPRIGHT, subsampling=subsampling)
    for mode in ('', '&mode=redact'):
        mask = numpy.zeros((HEIGHT, WIDTH), numpy.uint8)
        mask[20:30, 40:50] = 255
        wanted = server.post(f'/pixelate?block=8{mode}&region=40,20,10,10', body)
        assert ask(server, mask, '/pixelate?block=8' + mode, body).content == wanted.content


def test_nothing(server):
    empty = numpy.zeros((HEIGHT, WIDTH), numpy.uint8)
    for target in (EMBOSS, REDACT + '&require=false', EMBOSS + '&feather=4'):
        assert (pixels(ask(server, empty, target)) == UPRIGHT).all()
    assert ask(server, empty, EMBOSS + '&invert=1').content == server.post(EMBOSS, PICTURE).content
    jpeg = pictures.jpeg(UPRIGHT)
    assert (anatomy.pixels(ask(server, empty, '/blur?mode=redact&require=false', jpeg).content) == anatomy.pixels(jpeg)).all()


def test_statistics(server):
    wanted = server.post(f'/stats?region={REGION}', PICTURE).json()
    assert ask(server, hard(), '/stats').json() == wanted


GRAY = hard()
WRONG = (
    (b'', 'the part is no PNG'), (pictures.jpeg(UPRIGHT), 'the part is no PNG'), (b'\x89PNG\r\n\x1a\n', 'mask: '),
    (pictures.png(UPRIGHT), 'the PNG has 3 channels of 8 bits, it must have one of 8'),
    (pictures.png(numpy.dstack([GRAY, GRAY])), 'the PNG has 2 channels of 8 bits'), (pictures.png(GRAY.astype(numpy.uint16), depth=16), 'the PNG has 1 channels of 16 bits'),
    (pictures.png(GRAY[:-1]), 'it has 160x95 pixels, it must have 160x96 as the upright picture'),
    (pictures.png(GRAY.T), 'it has 96x160 pixels'), (pictures.png(GRAY)[:-30], 'mask: '), (pictures.png(GRAY).replace(b'IDAT', b'IDAT\0', 1), 'mask: '),
)


@pytest.mark.parametrize('mask,says', WRONG, ids=range(len(WRONG)))
def test_wrong(server, mask, says):
    for target in (EMBOSS, REDACT):
        check_problem(ask(server, mask, target), 'bad-parameter', 'mask', says)


def test_twice(server):
    check_problem(ask(server, GRAY, EMBOSS, PICTURE, ('mask', pictures.png(GRAY))), 'bad-parameter', 'mask', 'more than once')


def test_too_large(start):
    """The size is wrong long before memory is taken for it."""
    daemon = start('--max-pixels', '100000')
    bomb = pictures.png(numpy.zeros((2000, 2000), numpy.uint8))
    check_problem(ask(daemon, bomb), 'limit-exceeded', says='mask: ')


def test_other_steps(server):
    check_problem(ask(server, GRAY, '/rotate?angle=90'), 'bad-parameter', 'mask', 'mask: rotate acts on the whole picture')
    answer = ask(server, GRAY, '/rotate?angle=90&mode=redact&format=png')
    assert (pixels(answer)[:, ::-1].swapaxes(0, 1) == UPRIGHT)[GRAY == 0].all()
