# SPDX-License-Identifier: MIT
"""lossless=true between JPEG and JPEG XL: a JPEG comes back to the byte, without what was to be removed, and a redacted picture never has its JPEG."""

import io
import shutil

import numpy
import pytest
from PIL import Image

import anatomy
import foreign
import pictures
from problems import check_problem

WIDTH, HEIGHT = 96, 64
PHOTO = pictures.photograph(WIDTH, HEIGHT)
PACK = '/rotate?angle=0&lossless=true&format=jxl'
RESTORE = '/rotate?angle=0&lossless=true&format=jpeg'
KEEP = '&metadata=keep'


@pytest.fixture(autouse=True, scope='module')
def need(shared):
    if 'jxl' not in shared.get('/version').json()['formats']['writes'] or not shutil.which('djxl'):
        pytest.skip('this build has no JPEG XL, or djxl is not installed')


def exact(server, target, body):
    answer = server.post(target, body)
    assert answer.status_code == 200, answer.text
    return answer.content


def restored(data):
    """By libjxl's own program."""
    return foreign.convert(('djxl', '--quiet'), data, 'jxl', 'jpg')


def with_exif(jpeg, orientation=1):
    return pictures.with_segments(jpeg, pictures.exif_segment(orientation))


JPEGS = {
    'usual': lambda: pictures.jpeg(PHOTO, 85),
    'full colour': lambda: pictures.jpeg(PHOTO, 95, '444'),
    '4:2:2': lambda: pictures.jpeg(PHOTO, 85, '422'),
    'grey': lambda: pictures.jpeg(pictures.photograph(61, 47, 1), 85),
    'progressive': lambda: pictures.jpeg(PHOTO, 85, progressive=True),
    'odd sides': lambda: pictures.jpeg(pictures.photograph(61, 47), 85),
    'metadata': lambda: with_exif(pictures.jpeg(PHOTO, 85)),
    'trailing bytes': lambda: pictures.jpeg(PHOTO, 85) + b'and more' * 20,
}


@pytest.mark.parametrize('name', JPEGS)
def test_a_jpeg_comes_back_to_the_byte(server, name):
    body = JPEGS[name]()
    packed = exact(server, PACK + KEEP, body)
    assert packed[4:8] == b'JXL ' and b'jbrd' in packed
    assert restored(packed) == body
    assert exact(server, RESTORE + KEEP, packed) == body
    assert exact(server, RESTORE + KEEP, foreign.convert(('cjxl', '--quiet'), body, 'jpg', 'jxl')) == body


@pytest.mark.parametrize('orientation', (3, 6))
def test_turned_with_its_blocks_or_left_alone(server, orientation):
    body = with_exif(pictures.jpeg(PHOTO, 85), orientation)
    assert restored(exact(server, f'{PACK}{KEEP}&autorotate=false', body)) == body
    upright = exact(server, RESTORE, body)
    packed = exact(server, PACK, body)
    assert restored(packed) == upright
    assert exact(server, RESTORE, exact(server, f'{PACK}{KEEP}&autorotate=false', body)) == upright
    turned = exact(server, '/rotate?angle=90&lossless=true&format=jxl', body)
    assert restored(turned) == exact(server, '/rotate?angle=90&lossless=true', body)
    crop = '/crop?x=16&y=16&width=40&height=30&lossless=true'
    upright_body = pictures.jpeg(PHOTO, 85)
    assert restored(exact(server, f'{crop}&format=jxl', upright_body)) == exact(server, crop, upright_body)


def test_metadata_go_unless_they_are_kept(server):
    """The JPEG that can be restored is the one without them."""
    body = with_exif(pictures.jpeg(PHOTO, 85))
    body = pictures.with_segments(body, (0xfe, b'secret!'))
    assert anatomy.exif_of(body) and b'secret!' in body
    packed = exact(server, PACK, body)
    for jpeg in (restored(packed), exact(server, RESTORE, packed), exact(server, RESTORE, exact(server, PACK + KEEP, body))):
        assert anatomy.exif_of(jpeg) is None and b'secret!' not in jpeg
        assert (anatomy.pixels(jpeg) == anatomy.pixels(body)).all()
    assert b'Exif' not in packed
    assert anatomy.exif_of(restored(exact(server, PACK + KEEP, body)))


def test_it_is_smaller(server):
    body = pictures.jpeg(pictures.photograph(500, 400), 85)
    assert len(exact(server, PACK + KEEP, body)) < .9 * len(body)


@pytest.mark.parametrize('target', (
    '/redact?region=16,16,32,16&fill=204060', '/rotate?angle=0&mode=redact&region=16,16,32,16&fill=204060',
    '/blur?sigma=9&mode=redact&region=16,16,32,16&fill=204060', '/pipeline?ops=rotate:angle=0&mode=redact&region=16,16,32,16&fill=204060'))
@pytest.mark.parametrize('packed', (False, True))
def test_a_redacted_picture_never_has_its_jpeg(server, target, packed):
    """Neither in a JPEG XL, nor as the JPEG that one held, whatever asks for it to be kept."""
    body = with_exif(pictures.jpeg(PHOTO, 85))
    body = exact(server, PACK + KEEP, body) if packed else body
    answer = exact(server, f'{target}&format=jxl&lossless=true', body)
    assert b'jbrd' not in answer
    place = anatomy.read_png(foreign.read_png('jxl', answer))[18:30, 18:46]
    assert (place == place[0, 0]).all() or 'blur' in target
    other = server.post(f'{target}&format=jpeg&lossless=true', body)
    if other.status_code == 200:
        hidden = anatomy.pixels(other.content)[18:30, 18:46].astype(int)
        assert numpy.abs(hidden - anatomy.pixels(body if not packed else restored(body))[18:30, 18:46]).mean() > 8
    else:
        check_problem(other, 'bad-parameter', 'lossless', 'regions')


def test_filters_and_searches_get_pixels(server):
    body = pictures.jpeg(PHOTO, 85)
    for target in ('/blur?sigma=2', '/resize?width=50', '/rotate?angle=0&detect=codes&mode=redact'):
        answer = server.post(f'{target}&format=jxl&lossless=true', body)
        assert b'jbrd' not in answer.content and answer.status_code in (200, 422), answer.text


def test_refusals_say_why(server):
    jpeg = pictures.jpeg(PHOTO, 85)
    pixels = exact(server, '/rotate?angle=0&format=jxl&lossless=true', pictures.png(PHOTO))
    check_problem(server.post(RESTORE, pixels), 'bad-parameter', 'lossless', 'holds no JPEG')
    check_problem(server.post(RESTORE, exact(server, '/rotate?angle=0&format=jxl', jpeg)), 'bad-parameter', 'lossless', 'holds no JPEG')
    check_problem(server.post('/crop?x=3&width=20&lossless=true&format=jxl', jpeg), 'bad-parameter', 'lossless', 'blocks')
    check_problem(server.post(f'{PACK}&quality=50', jpeg), 'bad-parameter', 'lossless', 'quality')
    packed = exact(server, PACK, jpeg)
    check_problem(server.post('/crop?x=16&width=20&lossless=true&format=jpeg', packed), 'bad-parameter', 'lossless', 'as a whole')
    cmyk = io.BytesIO()
    Image.fromarray(PHOTO).convert('CMYK').save(cmyk, 'JPEG')
    check_problem(server.post(PACK + KEEP, cmyk.getvalue()), 'bad-parameter', 'lossless')


def test_damage_is_found(server):
    packed = bytearray(exact(server, PACK, pictures.jpeg(PHOTO, 85)))
    check_problem(server.post(RESTORE, bytes(packed[:len(packed) // 2])), 'corrupt-image')
    at = packed.index(b'jbrd') + 8
    packed[at:at + 8] = bytes(8)
    check_problem(server.post(RESTORE, bytes(packed)), 'corrupt-image')
    body = pictures.jpeg(PHOTO, 85)
    assert server.post(PACK + KEEP, body[:len(body) // 2]).status_code == 400


def test_other_formats_stay_as_they_were(server):
    """A picture that is no JPEG is written without losses, and a JPEG XL as pixels."""
    packed = exact(server, PACK, pictures.png(PHOTO))
    assert b'jbrd' not in packed and (anatomy.read_png(foreign.read_png('jxl', packed)) == PHOTO).all()
    again = exact(server, PACK, exact(server, PACK, pictures.jpeg(PHOTO, 85)))
    assert b'jbrd' not in again
