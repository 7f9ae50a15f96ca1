# SPDX-License-Identifier: MIT
"""TIFF: what is refused, pages, and what a file says beside its samples."""

import io
import struct

import numpy
import pytest
from PIL import Image

import anatomy
import pictures
import tiffs
from problems import check_problem
from test_tiff import GREY, LOSSLESS, ORDERS, RGB, SAME, _built, pixels  # noqa: F401
from tiffs import SHORT, tiff, tiffcp


# --- what is refused --------------------------------------------------------------------------------------------
@pytest.mark.parametrize('more, says', (
    ({'t339': (SHORT, 3)}, 'floating-point'),
    ({'t339': (SHORT, [1, 2, 1])}, 'different kinds'),
    ({'t339': (SHORT, [2, 2, 2])}, 'signed'),
    ({'t258': (SHORT, [32, 32, 32])}, '32 bits'),
    ({'t258': (SHORT, [8, 8, 16])}, 'different bits'),
    ({'t259': (SHORT, 50002)}, 'JPEG XL'),
    ({'t259': (SHORT, 6)}, 'JPEG of the old style'),
    ({'t259': (SHORT, 34887)}, 'LERC'),
    ({'t259': (SHORT, 34712)}, 'JPEG 2000'),
    ({'t259': (SHORT, 4242)}, 'unknown compression 4242'),
    ({'t259': (SHORT, 4)}, 'group 4 with 3 samples of 8 bits'),
    ({'t262': (SHORT, 8)}, 'L*a*b*'),
    ({'t262': (SHORT, 32803)}, 'colour filter array'),
    ({'t262': (SHORT, 777)}, 'PhotometricInterpretation 777'),
    ({'t277': (SHORT, 17)}, '17 samples'),
    ({'t317': (SHORT, 3), 't259': (SHORT, 5)}, 'predictor 3'),
    ({'t50706': (tiffs.BYTE, [1, 4, 0, 0])}, 'DNG'),
    ({'t254': (tiffs.LONG, 1)}, 'smaller versions'),
), ids=str)
def test_unsupported(server, more, says):
    check_problem(server.post(SAME, tiff(RGB, **more)), 'unsupported-image', says=says)


@pytest.mark.parametrize('more, says', (
    ({'t256': None}, '0 x 45'),
    ({'t257': (SHORT, 0)}, '61 x 0'),
    ({'t262': None}, 'PhotometricInterpretation'),
    ({'t262': (tiffs.RATIO, [1, 1])}, 'PhotometricInterpretation'),
    ({'t273': None}, 'places'),
    ({'t279': None}, 'places'),
    ({'t278': (SHORT, 1)}, 'has 45 strips'),
    ({'t277': (SHORT, 2)}, 'need 3'),
    ({'t284': (SHORT, 3)}, 'PlanarConfiguration'),
    ({'t279': (tiffs.LONG, 100)}, '100 bytes of strip 0 cannot hold'),
    ({'t279': (tiffs.LONG, 1 << 30)}, 'strip 0'),
    ({'t257': (SHORT, 46)}, '2 strips'),
    ({'t259': (SHORT, 8)}, 'damaged or cut short'),
    ({'t259': (SHORT, 5)}, 'damaged or cut short'),
    ({'t259': (SHORT, 7)}, 'damaged or cut short'),
    ({'t259': (SHORT, 34925)}, 'damaged or cut short'),
), ids=str)
def test_damaged(server, more, says):
    check_problem(server.post(SAME, tiff(RGB, **more)), 'corrupt-image', says=says)


@pytest.mark.parametrize('more, says', (
    ({'t256': (tiffs.LONG, 200000)}, 'pixels'),
    ({'t256': (tiffs.LONG, 1 << 31), 't257': (tiffs.LONG, 1 << 31)}, 'pixels'),
    ({'t322': (tiffs.LONG, 1 << 31), 't323': (tiffs.LONG, 16)}, 'tiles'),
    ({'t322': (tiffs.LONG, 1 << 16), 't323': (tiffs.LONG, 1 << 16)}, 'tiles'),
    ({'t322': (tiffs.LONG, 1 << 20), 't323': (tiffs.LONG, 1)}, 'too many'),
), ids=str)
def test_limits(server, more, says):
    check_problem(server.post(SAME, tiff(RGB, **more)), 'limit-exceeded', says=says)


@pytest.mark.parametrize('compression', ('none', 'packbits', 'lzw', 'zip', 'zstd', 'lzma', 'jpeg:r:90', 'jpeg:90'))
def test_cut_data_are_an_error(server, compression):
    """Never black or grey instead of what is missing: the data of a strip are shorter, the directory is whole."""
    body = tiffcp(tiff(pictures.photograph(200, 128)), '-c', compression, '-r', '128')
    file = anatomy_of(body)
    at, size = file[273], file[279]
    for left in (size // 2, size - size // 20 - 20, 5):
        cut = bytearray(body)
        struct.pack_into('<I', cut, file['at279'], left)
        check_problem(server.post(SAME, bytes(cut)), 'corrupt-image', says='damaged or cut short')
        zeros = body[:at + left] + bytes(size - left) + body[at + size:]
        answer = server.post(SAME, zeros)
        assert compression in ('none', 'packbits', 'zip') or answer.status_code == 400, (compression, left)  # zeros are codes of these


def anatomy_of(body):
    """{tag: the first value, 'at' tag: its place} of a little-endian file with one strip."""
    at, found = struct.unpack_from('<I', body, 4)[0], {}
    for i in range(struct.unpack_from('<H', body, at)[0]):
        tag, kind, _, value = struct.unpack_from('<HHI4s', body, at + 2 + 12 * i)
        found[tag] = struct.unpack('<H', value[:2])[0] if kind == SHORT else struct.unpack('<I', value)[0]
        found[f'at{tag}'] = at + 2 + 12 * i + 8
        if kind == SHORT:
            struct.pack_into('<H', bytearray(body), at + 2 + 12 * i + 2, 4)
    return found


@pytest.mark.parametrize('body', (tiff(RGB), tiff(RGB, tile=(16, 16)), tiff(RGB, compression=tiffs.DEFLATE, rows=4, big=True)), ids=('strip', 'tiles', 'big'))
def test_cut_files_are_an_error(server, body):
    for size in (*range(2, 40), *range(41, len(body), len(body) // 50)):
        answer = server.post(SAME, body[:size])
        assert answer.status_code in ((400, 415) if size < 4 else (400,)), (size, answer.status_code)


# --- pages ------------------------------------------------------------------------------------------------------
SMALLER, MASK = {'t254': (tiffs.LONG, 1)}, {'t254': (tiffs.LONG, 4)}


@pytest.mark.parametrize('order, big', ORDERS)
def test_pages(server, order, big):
    """A page is chosen by its number; without one a file with several is refused, so that none is lost unnoticed."""
    file = tiffs.File(order, big).page(RGB).page(GREY, tile=(16, 16)).page(RGB[:20, :30], rows=3)
    body = file.write()
    for number, wanted in enumerate((RGB, GREY, RGB[:20, :30])):
        answer = server.post(f'{SAME}&page={number}', body)
        assert (anatomy.pixels(answer.content) == wanted).all()
        assert answer.headers['X-Metadata-Dropped'] == 'pictures'
    assert server.post('/stats?page=2', body).json()['width'] == 30
    check_problem(server.post(SAME, body), 'unsupported-image', says='TIFF has 3 pages; page=0 to page=2 takes one of them')
    check_problem(server.post(f'{SAME}&page=3', body), 'bad-parameter', 'page', says="'page' is 3; this TIFF has 3 pages")
    one = server.post(f'{SAME}&page=0', tiff(RGB))
    assert one.status_code == 200 and 'X-Metadata-Dropped' not in one.headers
    check_problem(server.post(f'{SAME}&page=1', tiff(RGB)), 'bad-parameter', 'page', says='this TIFF has 1 page,')
    check_problem(server.post(f'{SAME}&page=65536', tiff(RGB)), 'bad-parameter', 'page', says='65535')
    check_problem(server.post(f'{SAME}&page=1', pictures.small_png()), 'bad-parameter', 'page', says='the picture has 1 frame, from 0')


def test_smaller_versions_are_no_pages(server):
    """But they have numbers, as for other programs."""
    body = tiffs.File().page(GREY, **SMALLER).page(RGB).page(GREY, **MASK).write()
    answer = server.post(f'{SAME}&metadata=keep', body)
    assert (anatomy.pixels(answer.content) == RGB).all() and 'thumbnail' in answer.headers['X-Metadata-Dropped']
    assert (pixels(server, body, f'{SAME}&page=0') == GREY).all()


def test_directories_in_circles(server):
    file = tiffs.File().page(RGB).page(RGB)
    at = struct.unpack_from('<I', file.data, 4)[0]
    body = bytearray(file.write())
    struct.pack_into('<I', body, file.link, at)
    check_problem(server.post(SAME, bytes(body)), 'limit-exceeded', says='form a circle')
    assert (pixels(server, bytes(body), f'{SAME}&page=1') == RGB).all()
    struct.pack_into('<I', body, file.link, len(body) + 100)
    check_problem(server.post(SAME, bytes(body)), 'corrupt-image', says='page 2 does not lie in the file')


# --- what is said beside the pixels ---------------------------------------------------------------------------------
@pytest.mark.parametrize('orientation', range(1, 9))
def test_orientation(server, orientation):
    """Applied once."""
    body = tiff(pictures.stored_as(RGB, orientation), t274=(SHORT, orientation))
    for target in (SAME, f'{SAME}&metadata=keep'):
        answer = server.post(target, body)
        assert (anatomy.pixels(answer.content) == RGB).all()
        with Image.open(io.BytesIO(answer.content)) as picture:
            assert picture.getexif().get(274, 1) == 1
    assert (pixels(server, body, f'{SAME}&autorotate=false') == pictures.stored_as(RGB, orientation)).all()


@pytest.mark.parametrize('order, big', ORDERS)
def test_metadata(server, order, big):
    """Listed tags of the page's own directory and of those that it points to; the rest is named."""
    file = tiffs.File(order, big)
    photo = file.directory({33434: (tiffs.RATIO, [1, 250]), 37500: (tiffs.UNDEFINED, pictures.CANARY), 42036: (tiffs.ASCII, b'a lens of glass\0')}, linked=False)
    gps = file.directory({1: (tiffs.ASCII, b'N\0'), 2: (tiffs.RATIO, [48, 1, 8, 1, 0, 1])}, linked=False)
    iptc = struct.pack('>BBBH', 28, 2, 80, 5) + b'Ariel'
    packet = pictures.xmp(b'<dc:title>a title of words</dc:title>')
    body = file.page(RGB, t271=(tiffs.ASCII, b'a maker\0'), t315=(tiffs.ASCII, b'Somebody Else\0'), t282=(tiffs.RATIO, [300, 1]), t283=(tiffs.RATIO, [300, 1]),
                     t296=(SHORT, 2), t700=(tiffs.BYTE, packet), t33723=(tiffs.UNDEFINED, iptc), t34665=(tiffs.LONG, photo), t34853=(tiffs.LONG, gps),
                     t34675=(tiffs.UNDEFINED, pictures.icc()), t50000=(tiffs.UNDEFINED, pictures.CANARY), t37724=(tiffs.UNDEFINED, pictures.CANARY * 9)).write()
    for target in ('png', 'jpeg'):
        answer = server.post(f'/blur?sigma=1&format={target}&metadata=keep', body)
        with Image.open(io.BytesIO(answer.content)) as picture:
            exif = picture.getexif()
            assert exif[271] == 'a maker' and exif[315] == 'Somebody Else'
            assert exif.get_ifd(34665)[42036] == 'a lens of glass' and exif.get_ifd(34665)[33434] == 1 / 250
            assert exif.get_ifd(34853)[1] == 'N' and exif.get_ifd(34853)[2] == (48, 8, 0)
            assert round(picture.info['dpi'][0]) == 300 and picture.info['icc_profile']
        assert b'a title of words' in anatomy.xmp_of(answer.content)
        assert (b'Ariel' in answer.content) == (target == 'jpeg') and pictures.CANARY not in answer.content
        lost = set(answer.headers['X-Metadata-Dropped'].split(', '))
        assert lost == {'exif', 'maker-note', 'pictures'} | ({'iptc'} if target == 'png' else set())
        stripped = server.post(f'/blur?sigma=1&format={target}', body)
        for text in (b'maker', b'Somebody', b'lens', b'Ariel', b'title'):
            assert text not in stripped.content
        with Image.open(io.BytesIO(stripped.content)) as picture:
            assert picture.info['icc_profile']


def test_a_profile_for_inks_is_dropped(server):
    profile = bytearray(pictures.icc())
    profile[16:20] = b'CMYK'
    answer = server.post(SAME, tiff(pictures.photograph(20, 10, 4), colours=tiffs.CMYK, t34675=(tiffs.UNDEFINED, bytes(profile))))
    assert answer.headers['X-Metadata-Dropped'] == 'colour'
    with Image.open(io.BytesIO(answer.content)) as picture:
        assert 'icc_profile' not in picture.info


# --- redaction ----------------------------------------------------------------------------------------------------------
def test_lossless_files_carry_no_traces(server):
    """Only what is compressed with losses has some, of whole blocks."""
    region = '&mode=redact&region=20,20,8,8'
    for body, lossy in ((tiff(RGB), False), (tiffcp(tiff(RGB), '-c', 'lzw'), False), (tiffcp(tiff(RGB), '-c', 'jpeg:90'), True)):
        answer = server.post(SAME + region, body)
        assert ('lossy coding of the input' in answer.headers.get('X-Blurd-Notice', '')) == lossy
        changed = (anatomy.pixels(answer.content) != pixels(server, body)).any(-1)
        y, x = numpy.nonzero(changed)
        assert (x.min() < 16 and y.min() < 16) if lossy else (x.min() >= 20 and y.min() >= 20 and x.max() < 28 and y.max() < 28)
