# SPDX-License-Identifier: MIT
"""JPEG in or out: size and structure are kept, and the pixels are close to the true blur."""

import io

import numpy
import pytest
from PIL import Image

import anatomy
import gaussian
import pictures
from problems import check_problem


def blurred(server, body, query, mime='image/jpeg', **more):
    answer = server.post('/blur?' + query, body, **more)
    assert answer.status_code == 200, answer.text
    assert answer.headers['Content-Type'] == mime
    return answer.content


@pytest.mark.parametrize('subsampling', ('420', '422', '444'))
@pytest.mark.parametrize('size', ((320, 240), (321, 239), (8, 8), (1, 1), (17, 3)))
def test_size_and_subsampling_stay(server, subsampling, size):
    result = blurred(server, pictures.jpeg(pictures.photograph(*size), subsampling=subsampling), 'sigma=2')
    assert anatomy.frame(result)[1:3] == size
    assert anatomy.subsampling(result) == subsampling
    assert anatomy.pixels(result).shape == (size[1], size[0], 3)


@pytest.mark.parametrize('subsampling', ('420', '422', '444'))
@pytest.mark.parametrize('sigma', (0.5, 1.5, 8, 40))
def test_close_to_the_blur_of_the_decoded_picture(server, subsampling, sigma):
    body = pictures.jpeg(pictures.photograph(323, 241), 95, subsampling)
    result = blurred(server, body, f'sigma={sigma}&quality=95')
    wanted = gaussian.blur(anatomy.pixels(body), sigma)
    assert gaussian.psnr(anatomy.pixels(result), wanted) >= 37


def test_gray_stays_gray(server):
    body = pictures.jpeg(pictures.photograph(123, 77, 1), 95)
    result = blurred(server, body, 'sigma=3&quality=95')
    assert anatomy.subsampling(result) == 'gray'
    assert gaussian.psnr(anatomy.pixels(result), gaussian.blur(anatomy.pixels(body), 3)) >= 40


@pytest.mark.parametrize('subsampling', ('420', '444'))
def test_progressive_in(server, subsampling):
    body = pictures.jpeg(pictures.photograph(200, 130), 95, subsampling, progressive=True)
    assert anatomy.frame(body)[0]
    result = blurred(server, body, 'sigma=2&quality=95')
    assert not anatomy.frame(result)[0]
    assert gaussian.psnr(anatomy.pixels(result), gaussian.blur(anatomy.pixels(body), 2)) >= 37


def test_progressive_out(server):
    plain = blurred(server, pictures.small_jpeg(), 'sigma=2')
    progressive = blurred(server, pictures.small_jpeg(), 'sigma=2&progressive=true')
    assert anatomy.frame(progressive)[0]
    assert (anatomy.pixels(plain) == anatomy.pixels(progressive)).all()


@pytest.mark.parametrize('body', (pictures.small_jpeg('420'), pictures.small_jpeg('444'), pictures.small_png()), ids=('420', '444', 'PNG'))
def test_optimal_tables_make_the_same_picture_smaller(server, body):
    standard = blurred(server, body, 'sigma=2&format=jpeg&huffman=standard')
    optimal = blurred(server, body, 'sigma=2&format=jpeg&huffman=optimal')
    assert (anatomy.pixels(standard) == anatomy.pixels(optimal)).all()
    assert len(optimal) < len(standard)


@pytest.mark.parametrize('query', ('sigma=1&huffman=optimal', 'sigma=1&huffman=standard', 'sigma=20&huffman=optimal&quality=100',
                                   'sigma=2&progressive=true'))
@pytest.mark.parametrize('subsampling', ('420', '422', '444'))
def test_libjpeg_writes_the_same_bytes(server, start, subsampling, query):
    body = pictures.jpeg(pictures.photograph(321, 199), subsampling=subsampling)
    turbo = start('--jpeg-library', 'turbo')
    assert blurred(server, body, query) == blurred(turbo, body, query)


@pytest.mark.parametrize('interval', (0, 1, 4, 13))
def test_restart_markers(server, interval):
    tiles = numpy.random.default_rng(interval).integers(0, 256, (9, 13))
    body = pictures.mosaic_jpeg(tiles, interval)
    result = blurred(server, body, 'sigma=2&format=png', 'image/png')
    picture = numpy.kron(tiles, numpy.ones((8, 8)))[..., None]
    assert numpy.abs(anatomy.pixels(result) - gaussian.blur(picture, 2)).max() <= 1


def test_no_restart_markers_in_the_result(server):
    result = blurred(server, pictures.mosaic_jpeg(numpy.full((4, 4), 77), 2), 'sigma=2')
    assert 0xDD not in [marker for marker, _ in anatomy.segments(result)]


@pytest.mark.parametrize('adobe', (True, False), ids=('Adobe', 'no marker'))
def test_cmyk_is_converted(server, adobe):
    """The inks are inverted, whether the marker that says so is there or not."""
    samples = pictures.photograph(60, 40, 4)
    body = pictures.jpeg(samples, 95)
    at = body.index(b'\xff\xee\x00\x0eAdobe')
    body = body if adobe else body[:at] + body[at + 16:]
    result = blurred(server, body, 'sigma=0.1&format=png', 'image/png')
    with Image.open(io.BytesIO(body)) as picture:
        wanted = numpy.asarray(picture.convert('RGB')).astype(int)
    assert numpy.abs(anatomy.pixels(result) - wanted).max() <= 2
    assert anatomy.frame(blurred(server, body, 'sigma=1'))[1:3] == (60, 40)


@pytest.mark.parametrize('target', ('/pixelate?block=8&region=9,9,20,20', '/pixelate?block=8&mode=redact&region=9,9,20,20', '/blur?sigma=3&feather=4&region=9,9,20,20',
                                    '/resize?scale=0.25&shrink=fast', '/rotate?angle=90'))
def test_cmyk_without_a_marker_is_no_exception(server, target):
    """Each way gives what it gives with the marker."""
    body = pictures.jpeg(pictures.photograph(64, 48, 4), 95)
    at = body.index(b'\xff\xee\x00\x0eAdobe')
    bare = body[:at] + body[at + 16:]
    for more in '&format=png', '', '&quality=60', '&colorspace=linear':
        one, other = server.post(target + more, body), server.post(target + more, bare)
        assert one.status_code == other.status_code == 200, (one.text, other.text)
        assert one.content == other.content, more


@pytest.mark.parametrize('target', ('/rotate?angle=90', '/crop?x=8&width=16', '/pipeline?ops=crop:width=32|rotate:angle=180'))
def test_blocks_of_inks_stay(server, target):
    body = pictures.jpeg(pictures.photograph(64, 48, 4), 95)
    at = body.index(b'\xff\xee\x00\x0eAdobe')
    for one in body, body[:at] + body[at + 16:]:
        check_problem(server.post(target + '&lossless=true', one), 'bad-parameter', 'lossless', 'of these colours')


# --- parameters of the answer -------------------------------------------------------------
def test_quality(server):
    body = pictures.jpeg(pictures.photograph(200, 150))
    sizes = [len(blurred(server, body, f'sigma=1&quality={q}')) for q in (1, 30, 85, 100)]
    assert sizes == sorted(sizes) and sizes[0] < sizes[-1] / 4
    assert blurred(server, body, 'sigma=1') == blurred(server, body, 'sigma=1&quality=85')


@pytest.mark.parametrize('given', ('420', '422', '444'))
@pytest.mark.parametrize('wanted', ('420', '422', '444'))
def test_subsampling_parameter(server, given, wanted):
    body = pictures.jpeg(pictures.photograph(101, 67), 95, given)
    result = blurred(server, body, f'sigma=2&quality=95&subsampling={wanted}')
    assert anatomy.subsampling(result) == wanted
    assert gaussian.psnr(anatomy.pixels(result), gaussian.blur(anatomy.pixels(body), 2)) >= 33


@pytest.mark.parametrize('given', ('420', '444'))
def test_jpeg_to_png(server, given):
    body = pictures.jpeg(pictures.photograph(101, 67), 95, given)
    result = blurred(server, body, 'sigma=3&format=png', 'image/png')
    assert numpy.abs(anatomy.pixels(result) - gaussian.blur(anatomy.pixels(body), 3)).max() <= 2


def test_png_to_jpeg(server):
    picture = pictures.photograph(101, 67)
    result = blurred(server, pictures.png(picture), 'sigma=3&format=jpeg&quality=95')
    assert anatomy.subsampling(result) == '420'
    assert gaussian.psnr(anatomy.pixels(result), gaussian.blur(picture, 3)) >= 33
    full = blurred(server, pictures.png(picture), 'sigma=3&format=jpeg&quality=95&subsampling=444')
    assert anatomy.subsampling(full) == '444'
    assert gaussian.psnr(anatomy.pixels(full), gaussian.blur(picture, 3)) >= 40


def test_16_bits_and_alpha_to_jpeg(server):
    picture = pictures.photograph(64, 48, 4)
    for body in (pictures.png(picture), pictures.png(picture.astype(int) * 257, depth=16)):
        result = blurred(server, body, 'sigma=2&format=jpeg&quality=95&subsampling=444')
        colours, alpha = gaussian.blur_alpha(picture, 2)
        assert gaussian.psnr(anatomy.pixels(result), colours + 255 - alpha) >= 38, 'not composed over white'


@pytest.mark.parametrize('colorspace', ('native', 'rgb'))
def test_colorspace(server, colorspace):
    body = pictures.jpeg(pictures.photograph(160, 120), 95, '420')
    result = blurred(server, body, f'sigma=4&quality=95&colorspace={colorspace}')
    assert anatomy.subsampling(result) == '420'
    assert gaussian.psnr(anatomy.pixels(result), gaussian.blur(anatomy.pixels(body), 4)) >= 37


# --- negotiation ---------------------------------------------------------------------------
@pytest.mark.parametrize('accept,given,wanted', (
    (None, 'jpeg', 'jpeg'), (None, 'png', 'png'),
    ('*/*', 'jpeg', 'jpeg'), ('*/*', 'png', 'png'), ('image/*', 'png', 'png'),
    ('image/png', 'jpeg', 'png'), ('image/jpeg', 'png', 'jpeg'), ('IMAGE/JPEG', 'png', 'jpeg'),
    ('image/png;q=0.5, image/jpeg;q=0.9', 'png', 'jpeg'),
    ('image/png;q=0.9, image/jpeg;q=0.5', 'jpeg', 'png'),
    ('image/jpeg, image/png', 'png', 'png'), ('image/x-icon,*/*;q=0.8', 'png', 'png'),
    ('image/jpeg;q=0, */*', 'jpeg', 'png'), ('*/*;q=0.1, image/png;q=0.2', 'jpeg', 'png'),
    ('image/x-icon', 'jpeg', 'jpeg'), ('text/html', 'png', 'png'), ('', 'png', 'png'), (';;,,q=', 'png', 'png'),
))
def test_accept(server, accept, given, wanted):
    body = pictures.small_jpeg() if given == 'jpeg' else pictures.small_png()
    answer = server.post('/blur', body, headers={'Accept': accept})
    assert answer.status_code == 200
    assert answer.headers['Content-Type'] == f'image/{wanted}'
    assert anatomy.pixels(answer.content).size
    assert answer.headers['Vary'] == 'Accept'


def test_format_overrides_accept(server):
    answer = server.post('/blur?format=jpeg', pictures.small_png(), headers={'Accept': 'image/png'})
    assert answer.headers['Content-Type'] == 'image/jpeg'
    assert 'Vary' not in answer.headers


@pytest.mark.parametrize('declared', ('image/png', 'image/jpeg', 'text/html', 'application/octet-stream', 'x' * 5000, ''))
def test_magic_bytes_decide_not_the_content_type(server, declared):
    answer = server.post('/blur', pictures.small_jpeg(), headers={'Content-Type': declared})
    assert answer.status_code == 200 and answer.headers['Content-Type'] == 'image/jpeg'


@pytest.mark.parametrize('subsampling', ('444', '422', '420'))
def test_small_pictures_as_decoded_pixels(server, subsampling):
    """With colorspace=rgb the blur is that of the pixels which decoders show, also where all is border."""
    for size in (*range(1, 18), 33):
        for sigma in (1, 3):
            body = pictures.jpeg(pictures.photograph(size, size), 95, subsampling=subsampling)
            answer = server.post(f'/blur?sigma={sigma}&colorspace=rgb&subsampling=444&quality=100', body).content
            assert numpy.abs(anatomy.pixels(answer) - gaussian.blur(anatomy.pixels(body), sigma)).max() <= 5  # steps of 1 in YCbCr
