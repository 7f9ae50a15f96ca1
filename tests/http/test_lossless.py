# SPDX-License-Identifier: MIT
"""JPEG in, JPEG out, with regions: blocks that no region touches stay as they are.

The coefficients themselves are compared in tests/unit/codecs/jpeg/test_jpeg_patch.c. Here: equal tables and
equal pixels, which different coefficients would hardly give."""

import io
import os
import pathlib

import numpy
import pytest
from PIL import Image

import anatomy
import areas
import daemon
import gaussian
import pictures
from filtering import ask

CORPUS = pathlib.Path(os.environ.get('CORPUS') or daemon.ROOT.parent / 'shared/corpus')
WIDTH, HEIGHT = 155, 107
UPRIGHT = pictures.photograph(WIDTH, HEIGHT)
MCU = {'420': (16, 16), '422': (16, 8), '444': (8, 8), 'gray': (8, 8)}
REGIONS = ('40,30,37,21', 'ellipse:95.2,60.1,30,30.4')
FILTERS = ('/blur?sigma=4', '/pixelate?block=8', '/pixelate?block=5', '/sharpen?amount=4', '/convolve?preset=box&size=9',
           '/pipeline?ops=blur:sigma=2%7Cpixelate:block=6', '/blur?sigma=3&colorspace=rgb', '/blur?sigma=3&colorspace=linear')


def jpeg(subsampling, picture=UPRIGHT, quality=88, **more):
    return pictures.jpeg(picture[..., :1], quality, **more) if subsampling == 'gray' else \
        pictures.jpeg(picture, quality, subsampling, **more)


def tables(data):
    with Image.open(io.BytesIO(data)) as picture:
        return picture.quantization


def touched(mask, subsampling, spread=0):
    """The pixels of all MCUs with a pixel of the mask, and `spread` more, which interpolated colour
    affects."""
    wide, high = MCU[subsampling]
    height, width = mask.shape
    rows, columns = numpy.arange(0, height, high), numpy.arange(0, width, wide)
    hit = numpy.add.reduceat(numpy.add.reduceat(mask.astype(int), rows, 0), columns, 1) > 0
    grown = hit.repeat(high, 0)[:height].repeat(wide, 1)[:, :width]
    for axis in (0, 1) * spread:
        grown = grown | numpy.roll(grown, 1, axis) | numpy.roll(grown, -1, axis)
    return grown


def mask_of(*regions, width=WIDTH, height=HEIGHT):
    return numpy.any([areas.mask(region, width, height) for region in regions], 0)


def check_lossless(body, answer, subsampling, mask):
    """Pixels outside do not change; returns the pixels before and after."""
    before, after = anatomy.pixels(body), anatomy.pixels(answer)
    assert after.shape == before.shape and anatomy.subsampling(answer) == subsampling
    assert tables(answer) == tables(body)
    outside = ~touched(mask, subsampling, 0 if subsampling in ('444', 'gray') else 2)
    assert 0.1 < outside.mean() < 1
    assert (after[outside] == before[outside]).all()
    return before, after


@pytest.mark.parametrize('target', FILTERS)
@pytest.mark.parametrize('subsampling', MCU)
@pytest.mark.parametrize('progressive', (False, True), ids=('sequential', 'progressive'))
def test_untouched_blocks_stay(server, target, subsampling, progressive):
    body = jpeg(subsampling, progressive=progressive)
    answer = ask(server, f'{target}&{areas.query(*REGIONS)}', body).content
    mask = mask_of(*REGIONS)
    before, after = check_lossless(body, answer, subsampling, mask)
    everywhere = anatomy.pixels(ask(server, f'{target}&format=png', body).content)
    assert gaussian.psnr(after[mask], everywhere[mask]) >= 27, 'inside is not filtered'
    rest = touched(mask, subsampling) & ~mask
    assert gaussian.psnr(after[rest], before[rest]) >= 27, 'what shares a block has changed too much'


@pytest.mark.parametrize('subsampling', MCU)
def test_soft_edges_and_inverted_regions(server, subsampling):
    body = jpeg(subsampling)
    check_lossless(body, ask(server, f'/blur?sigma=4&{areas.query("60,40,9,9", feather=4)}', body).content,
                   subsampling, mask_of('48,28,33,33'))
    check_lossless(body, ask(server, f'/blur?sigma=4&{areas.query("0,0,120,90", invert="true")}', body).content,
                   subsampling, ~mask_of('0,0,120,90'))


@pytest.mark.parametrize('subsampling', MCU)
@pytest.mark.parametrize('size', ((1, 1), (8, 8), (17, 16), (33, 47), (40, 24)))
def test_all_blocks_or_none(server, subsampling, size):
    """Pictures of a few blocks, padded ones at the borders among them."""
    body = jpeg(subsampling, pictures.photograph(*size))
    none = ask(server, '/blur?region=5000,0,1,1', body).content
    assert (anatomy.pixels(none) == anatomy.pixels(body)).all() and tables(none) == tables(body)
    some = anatomy.pixels(ask(server, '/convolve?kernel=1&bias=255&region=0,0,1,1', body).content)
    assert some[0, 0].mean() >= 200
    outside = ~touched(mask_of('0,0,1,1', width=size[0], height=size[1]), subsampling, 2)
    assert (some[outside] == anatomy.pixels(body)[outside]).all()


@pytest.mark.parametrize('target', FILTERS[:4])
def test_again_and_again(server, target):
    """Another region each time: the places between stay as they were at first."""
    first = body = jpeg('420')
    regions = ('0,0,16,16', '32,16,16,16', '96,80,32,16', '144,96,11,11')
    for region in regions:
        body = ask(server, f'{target}&{areas.query(region)}', body).content
    check_lossless(first, body, '420', mask_of(*regions))


def test_restart_markers(server):
    tiles = numpy.random.default_rng(1).integers(0, 256, (9, 13))
    body = pictures.mosaic_jpeg(tiles, 4)
    answer = ask(server, '/convolve?kernel=1&bias=40&region=16,16,24,8', body).content
    wanted = anatomy.pixels(body).astype(int)
    wanted[16:24, 16:40] = numpy.minimum(wanted[16:24, 16:40] + 40, 255)
    assert numpy.abs(anatomy.pixels(answer) - wanted).max() <= 1
    assert numpy.array_equal(numpy.delete(anatomy.pixels(answer), range(16, 24), 0), numpy.delete(wanted, range(16, 24), 0))


def test_format_and_progressive_do_not_matter(server):
    body, query = jpeg('420'), f'/blur?sigma=4&{areas.query(*REGIONS)}'
    plain = anatomy.pixels(ask(server, query, body).content)
    for more in ('&format=jpeg', '&progressive=true', '&subsampling=420', '&effort=3'):
        answer = ask(server, query + more, body).content
        assert (anatomy.pixels(answer) == plain).all() and anatomy.frame(answer)[0] == ('progressive' in more)


# --- when it is encoded anew ------------------------------------------------------------------
@pytest.mark.parametrize('more,quality', (
    ('&quality=60', 60), ('&quality=88', 88), ('&subsampling=444', 85), ('&subsampling=422&quality=70', 70)))
def test_quality_is_obeyed(server, more, quality):
    body = jpeg('420')
    answer = ask(server, f'/blur?sigma=4&{areas.query(*REGIONS)}{more}', body).content
    assert tables(answer) == tables(jpeg('444', quality=quality)), 'not the tables of this quality'
    outside = ~touched(mask_of(*REGIONS), '420', 2)
    assert 28 <= gaussian.psnr(anatomy.pixels(answer)[outside], anatomy.pixels(body)[outside])
    if quality == 60:
        assert (anatomy.pixels(answer)[outside] != anatomy.pixels(body)[outside]).any()


def test_without_regions_quality_is_85(server):
    assert tables(ask(server, '/blur', jpeg('420')).content) == tables(jpeg('420', quality=85))


@pytest.mark.parametrize('orientation', (2, 6))
def test_orientation(server, orientation):
    """A picture that is turned is encoded anew; one that is not stays and keeps its orientation."""
    body = pictures.with_segments(jpeg('420', pictures.stored_as(UPRIGHT, orientation)), pictures.exif_segment(orientation))
    query = f'/blur?sigma=4&metadata=keep&{areas.query(*REGIONS)}'
    turned = ask(server, query, body).content
    assert anatomy.frame(turned)[1:3] == (WIDTH, HEIGHT) and tables(turned) == tables(jpeg('420', quality=85))
    stays = ask(server, query + '&autorotate=false', body).content
    mask = pictures.stored_as(mask_of(*REGIONS).astype(numpy.uint8), orientation).astype(bool)
    check_lossless(body, stays, '420', mask)
    assert anatomy.tags(anatomy.exif_of(stays))[0][0x0112] == orientation


def test_metadata(server):
    body = jpeg('420', icc_profile=pictures.icc(), comment=pictures.CANARY)
    body = pictures.with_segments(body, pictures.exif_segment(1), (0xE1, pictures.XMP))
    query = f'/blur?{areas.query(*REGIONS)}'
    stripped = ask(server, query, body).content
    assert pictures.CANARY not in stripped and anatomy.exif_of(stripped) is None and anatomy.icc_of(stripped) == pictures.icc()
    kept = ask(server, query + '&metadata=keep', body).content
    assert anatomy.exif_of(kept) and pictures.CANARY in anatomy.xmp_of(kept) and anatomy.icc_of(kept) == pictures.icc()
    assert not anatomy.tags(anatomy.exif_of(kept))[1], 'the thumbnail shows what the region hides'


def test_inks_cannot_stay(server):
    """CMYK is answered as RGB."""
    samples = pictures.photograph(64, 48, 4)
    body = pictures.jpeg(samples)
    answer = ask(server, '/blur?region=5,5,10,10', body).content
    assert len(anatomy.frame(answer)[3]) == 3
    before = anatomy.pixels(ask(server, '/pixelate?block=1&format=png', body).content)
    assert gaussian.psnr(anatomy.pixels(answer)[20:, 20:], before[20:, 20:]) >= 25


# --- a real photograph --------------------------------------------------------------------------
@pytest.mark.parametrize('name,subsampling', (('receipt_1296x968_420_gps_icc.jpg', '420'), ('dog_800x600_422_progressive.jpg', '422'),
                                              ('bicycles_1024x631_420_dri192.jpg', '420'), ('train_800x600_gray.jpg', 'gray'),
                                              ('hubble_1000x872_444_icc_xmp.jpg', '444')))
def test_photographs(server, name, subsampling):
    path = CORPUS / 'photos' / name
    if not path.exists():
        pytest.skip('../shared/corpus/photos is absent')
    body = path.read_bytes()
    width, height = anatomy.frame(body)[1:3]
    regions = ('100,100,200,150', 'ellipse:50%,50%,20%,30%')
    answer = ask(server, f'/blur?sigma=12&{areas.query(*regions)}', body).content
    check_lossless(body, answer, subsampling, mask_of(*regions, width=width, height=height))


def test_tables_that_change_between_scans(server):
    """Such a file cannot be changed in part, which shows only after its scans were read: it is encoded anew."""
    body = jpeg('420', progressive=True)
    last_scan = body.rindex(b'\xff\xda')
    body = body[:last_scan] + b'\xff\xdb\0\x43\0' + bytes([9] * 64) + body[last_scan:]
    answer = ask(server, '/blur?sigma=4&region=40,30,37,21', body).content
    assert anatomy.pixels(answer).shape == (HEIGHT, WIDTH, 3)
    assert tables(answer)[0] == tables(server.post('/blur?quality=85', body).content)[0]
