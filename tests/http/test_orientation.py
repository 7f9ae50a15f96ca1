# SPDX-License-Identifier: MIT
"""The eight EXIF orientations come out upright; metadata that is kept and dropped."""

import io

import numpy
import pytest
from PIL import Image

import anatomy
import gaussian
import pictures

ORIENTATIONS = range(1, 9)
ORDERS = {'little': '<', 'big': '>'}


def marked(upright, orientation, order='<', **how):
    """A JPEG that shows `upright` once it is turned as its EXIF says, with all that can leak."""
    stored = pictures.stored_as(upright, orientation)
    body = pictures.jpeg(stored, 97, icc_profile=pictures.icc(), comment=pictures.CANARY, **how)
    return pictures.with_segments(body, pictures.exif_segment(orientation, order), (0xE1, pictures.XMP))


def ask(server, body, query):
    answer = server.post('/blur?sigma=3&quality=97&' + query, body)
    assert answer.status_code == 200, answer.text
    return answer.content


def says_upright(data):
    with Image.open(io.BytesIO(data)) as picture:
        return picture.getexif().get(0x0112, 1) == 1


@pytest.mark.parametrize('orientation', ORIENTATIONS)
@pytest.mark.parametrize('order', ORDERS)
def test_upright_exactly(server, orientation, order):
    upright = pictures.photograph(45, 31)
    body = marked(upright, orientation, ORDERS[order])
    with Image.open(io.BytesIO(body)) as picture:
        assert picture.getexif()[0x0112] == orientation
    decoded = anatomy.pixels(pictures.jpeg(upright, 97))
    result = anatomy.pixels(ask(server, body, 'format=png'))
    assert result.shape == upright.shape
    # The turned picture was compressed in turned blocks, so that it is a little different.
    assert gaussian.psnr(result, gaussian.blur(decoded, 3)) >= 45


@pytest.mark.parametrize('orientation', ORIENTATIONS)
@pytest.mark.parametrize('subsampling', ('420', '422', '444'))
@pytest.mark.parametrize('size', ((64, 48), (61, 35)), ids=('even', 'odd'))
def test_upright_as_jpeg(server, orientation, subsampling, size):
    upright = pictures.photograph(*size)
    result = ask(server, marked(upright, orientation, subsampling=subsampling), '')
    assert anatomy.frame(result)[1:3] == size
    assert says_upright(result)
    assert gaussian.psnr(anatomy.pixels(result), gaussian.blur(upright, 3)) >= 30


@pytest.mark.parametrize('orientation', ORIENTATIONS)
def test_upright_png(server, orientation):
    upright = pictures.photograph(45, 31)
    body = pictures.png(pictures.stored_as(upright, orientation),
                        before=[('eXIf', pictures.exif(orientation))])
    result = ask(server, body, '')
    assert numpy.abs(anatomy.pixels(result) - gaussian.blur(upright, 3)).max() <= 1
    assert says_upright(result)


@pytest.mark.parametrize('orientation', (1, 3, 6, 7))
@pytest.mark.parametrize('metadata', ('strip', 'keep'))
def test_autorotate_false_leaves_the_picture_as_stored(server, orientation, metadata):
    upright = pictures.photograph(64, 48)
    result = ask(server, marked(upright, orientation), f'autorotate=false&metadata={metadata}')
    stored = pictures.stored_as(upright, orientation)
    assert gaussian.psnr(anatomy.pixels(result), gaussian.blur(stored, 3)) >= 38
    if metadata == 'keep':  # the viewer still has to turn it
        assert anatomy.tags(anatomy.exif_of(result))[0][0x0112] == orientation


@pytest.mark.parametrize('value', (0, 9, 255, 65535))
def test_impossible_orientations_are_upright(server, value):
    body = pictures.with_segments(pictures.small_jpeg(), pictures.exif_segment(value))
    assert anatomy.frame(ask(server, body, ''))[1:3] == anatomy.frame(body)[1:3]


def test_damaged_exif_is_ignored(server):
    tiff = pictures.exif(6)
    for cut in (0, 1, 7, 8, 9, 20, len(tiff) // 2):
        body = pictures.with_segments(pictures.small_jpeg(), (0xE1, b'Exif\0\0' + tiff[:cut]))
        for metadata in ('strip', 'keep'):
            anatomy.pixels(ask(server, body, f'metadata={metadata}'))


# --- dropped and kept metadata ---------------------------------------------------------------
@pytest.mark.parametrize('format', ('jpeg', 'png'))
@pytest.mark.parametrize('query', ('', 'metadata=strip'))
def test_strip(server, format, query):
    body = marked(pictures.photograph(64, 48), 6)
    assert body.count(pictures.CANARY) >= 4, 'the fixture lost its metadata'
    result = ask(server, body, f'format={format}&{query}')
    assert pictures.CANARY not in result
    assert b'Exif' not in result and b'xmpmeta' not in result
    with Image.open(io.BytesIO(result)) as picture:
        assert picture.info['icc_profile'] == pictures.icc()
        assert not picture.getexif() and 'comment' not in picture.info


def test_strip_leaves_nothing_but_the_picture(server):
    result = ask(server, marked(pictures.photograph(64, 48), 6), '')
    assert {marker for marker, _ in anatomy.segments(result)} <= {0xE0, 0xE2, 0xDB, 0xC0, 0xC4}
    texts = [('tEXt', b'Comment\0' + pictures.CANARY), ('eXIf', pictures.exif(1)), ('tIME', b'\x07\xe8\1\1\1\1\1'),
             ('iTXt', b'XML:com.adobe.xmp\0\0\0\0\0' + pictures.XMP), ('prVt', pictures.CANARY)]
    for where in ('before', 'after'):
        result = ask(server, pictures.png(pictures.photograph(20, 20), **{where: texts}), '')
        assert {tag for tag, _ in anatomy.chunks(result)} == {'IHDR', 'IDAT', 'IEND'}


@pytest.mark.parametrize('orientation', (1, 6))
@pytest.mark.parametrize('order', ORDERS)
def test_keep(server, orientation, order):
    body = marked(pictures.photograph(64, 48), orientation, ORDERS[order])
    result = ask(server, body, 'metadata=keep')
    tags, thumbnail = anatomy.tags(anatomy.exif_of(result))
    assert tags[0x0112] == 1
    assert not thumbnail, 'the thumbnail shows the picture before it was blurred'
    assert result.count(b'\xff\xd8\xff') == 1
    with Image.open(io.BytesIO(result)) as picture:
        assert pictures.CANARY.decode() in picture.getexif()[0x010F]
        assert picture.getexif().get_ifd(0x8825)[1] == 'N'
        assert picture.info['comment'] == pictures.CANARY
        assert picture.info['icc_profile'] == pictures.icc()
    assert pictures.CANARY in anatomy.xmp_of(result)
    assert anatomy.icc_of(result) == pictures.icc()


@pytest.mark.parametrize('orientation', (1, 6))
def test_keep_from_jpeg_to_png(server, orientation):
    body = marked(pictures.photograph(64, 48), orientation)
    result = ask(server, body, 'metadata=keep&format=png')
    tags, thumbnail = anatomy.tags(dict(anatomy.chunks(result))['eXIf'])
    assert tags[0x0112] == 1 and not thumbnail
    assert pictures.CANARY in anatomy.xmp_of(result)


def test_png_colour_and_texts(server):
    before = [('gAMA', (45455).to_bytes(4, 'big')), ('sRGB', b'\0'), ('tEXt', b'Title\0kept or not')]
    body = pictures.png(pictures.photograph(20, 20), before=before)
    assert [c for c in anatomy.chunks(ask(server, body, '')) if c[0] in ('gAMA', 'sRGB', 'tEXt')] == before[:2]
    kept = ask(server, body, 'metadata=keep')
    assert [c for c in anatomy.chunks(kept) if c[0] in ('gAMA', 'sRGB', 'tEXt')] == before


@pytest.mark.parametrize('damage', ('short', 'garbage', 'missing part'))
def test_a_damaged_profile_is_left_out(server, damage):
    profile = pictures.icc()
    parts = {'short': [(1, 1, profile[:100])], 'garbage': [(1, 1, b'\xff' * 500)],
             'missing part': [(1, 3, profile[:200]), (3, 3, profile[200:])]}[damage]
    extra = [(0xE2, b'ICC_PROFILE\0' + bytes((number, count)) + data) for number, count, data in parts]
    result = ask(server, pictures.with_segments(pictures.small_jpeg(), *extra), '')
    assert anatomy.icc_of(result) == b''
