# SPDX-License-Identifier: MIT
"""Every refusal of DESIGN: its status, its sentence, and that the connection goes on."""

import re
import struct
import zlib

import numpy
import pytest

import daemon
import pictures
import wire
from problems import check_late, check_problem


# --- 404, 405 ------------------------------------------------------------------------------
@pytest.mark.parametrize('target, meant', [('/blurr', '/blur'), ('/Blur', '/blur'), ('/censor', '/redact'), ('/resise?width=9', '/resize'), ('/thumbnail', '/resize')])
def test_a_path_that_is_misspelt(server, target, meant):
    check_problem(server.post(target), 'not-found', says=f'there is nothing at this path, did you mean {meant}? see GET /')


@pytest.mark.parametrize('path', ('/anonymize', '/anonymise', '/hide', '/obfuscate', '/blackout', '/cover', '/mask', '/Redact', '/v1/redact'))
def test_other_names_of_redact(server, path):
    """One spelling does it, and each of these says which."""
    check_problem(server.post(path), 'not-found', says='did you mean /redact?')


@pytest.mark.parametrize('query, meant', (
    ('color=000000', 'fill'), ('colour=000000', 'fill'), ('style=black', 'fill'), ('look=black', 'fill'), ('bbox=1,1,9,9', 'region'), ('area=1,1,9,9', 'region'),
    ('coords=1,1,9,9', 'region'), ('coordinates=1,1,9,9', 'region'), ('box=1,1,9,9', 'region'), ('faces=true', 'detect'), ('target=faces', 'detect'),
    ('objects=faces', 'detect'), ('hide=faces', 'detect')))
def test_other_names_of_what_redact_takes(server, query, meant):
    check_problem(server.post(f'/redact?{query}', pictures.small_jpeg()), 'bad-parameter', query.split('=')[0], f'unknown parameter, did you mean {meant}?')


@pytest.mark.parametrize('target, meant', (('/sharpen?strength=2', 'amount'), ('/blur?strength=2', 'sigma')))
def test_a_strength_is_what_the_filter_has(server, target, meant):
    check_problem(server.post(target, pictures.small_jpeg()), 'bad-parameter', 'strength', f'did you mean {meant}?')


@pytest.mark.parametrize('target', ('/pixelate?block=9', '/blur?region=1,1,9,9', '/resize?width=9'))
def test_a_colour_beside_mode(server, target):
    check_problem(server.post(f'{target}&mode=redact&color=000000', pictures.small_jpeg()), 'bad-parameter', 'color', 'unknown parameter, did you mean fill?')


def test_a_path_like_no_other(server):
    assert server.post('/wp-admin/x.php').json()['detail'] == 'there is nothing at this path; see GET /'


@pytest.mark.parametrize('target', (
    '/nothing', '//', '//blur', '/blur/', '/blur//', '/Blur', '/BLUR', '/blur%00', '/blur%00x', '/livez%00x', '/%62lur',
    '/blur;sigma=2', '/../blur', '/x/../blur', '/./blur', '/blur/../livez', '/blur#x', '/.', '/blu', '/blurs', '/blur.png',
    '/metrics/', '/%2e%2e/metrics', '*', 'blur', 'http://localhost/nothing', '/' + 'a' * 5000))
@pytest.mark.parametrize('method', ('GET', 'POST'))
def test_404(server, method, target):
    answers = server.raw(wire.message(method, target, headers=['Connection: close']))
    check_problem(answers[0], 'not-found')
    assert len(answers) == 1


@pytest.mark.parametrize('method', ('GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND', 'post', 'X' * 200))
def test_405_where_post_is_wanted(server, method):
    with server.connect() as connection:
        connection.send(wire.message(method, '/blur?sigma=2'))
        answer = connection.answer(head=method == 'HEAD')
        assert answer.status == 405 and answer.header('Allow') == 'POST'
        if method != 'HEAD':
            check_problem(answer, 'method-not-allowed', says='POST')


@pytest.mark.parametrize('target', ('/', '/livez', '/readyz', '/metrics', '/version'))
@pytest.mark.parametrize('method', ('POST', 'PUT', 'DELETE', 'OPTIONS'))
def test_405_where_get_is_wanted(server, method, target):
    with server.connect() as connection:
        connection.send(wire.message(method, target, b'some body'))
        answer = connection.answer()
        check_problem(answer, 'method-not-allowed', says='GET')
        assert answer.header('Allow') == 'GET, HEAD'
        connection.send(wire.message('GET', '/livez'))
        assert connection.answer().status == 200


# --- 400: the picture ------------------------------------------------------------------------
def test_empty_body(server):
    check_problem(server.post('/blur'), 'corrupt-image', says='empty')
    message = wire.message('POST', '/blur', headers=['Transfer-Encoding: chunked', 'Connection: close'], length=False)
    check_problem(server.raw(message + b'0\r\n\r\n')[0], 'corrupt-image', says='empty')


WHOLE = {
    'png': pictures.png(pictures.photograph(60, 50)),
    'png 16 bit interlaced': pictures.png(pictures.photograph(60, 50).astype(int) * 257, depth=16, interlaced=True),
    'jpeg': pictures.jpeg(pictures.photograph(96, 80), subsampling='420'),
    'progressive': pictures.jpeg(pictures.photograph(96, 80), progressive=True),
    'cmyk': pictures.jpeg(pictures.photograph(48, 40, 4)),
    'restarts': pictures.mosaic_jpeg(numpy.arange(99).reshape(9, 11) * 2, 3),
}


SHORT = (r'is cut short in its header|has no (pixel data \(IDAT\)|frame header \(SOF\)): it is cut short or damaged|data is cut short: it ends before '
         r'the picture does|is truncated: \d+ bytes (of pixel data )?cannot hold \d+ x \d+ pixels|data is damaged or cut short: Corrupt JPEG data: .+')


@pytest.mark.parametrize('kind', WHOLE)
def test_truncated(server, kind):
    """Never a grey picture: all of it or an error. The last bytes of a file may be spare."""
    whole = WHOLE[kind]
    title, signature, spare = ('PNG', 8, 12) if kind.startswith('png') else ('JPEG', 3, 2)  # IEND, EOI
    with server.connect() as connection:
        for size in sorted({*range(1, len(whole) - spare - 2, max(1, len(whole) // 60)), len(whole) - spare - 3}):
            connection.send(wire.message('POST', '/blur', whole[:size]))
            says = check_problem(connection.answer(), 'corrupt-image')['detail']
            wanted = f'picture is cut short: it ends with byte {size}' if size < signature else f'{title} ({SHORT})'
            assert re.fullmatch(wanted, says), f'{size} of {len(whole)}: {says}'
        connection.send(wire.message('POST', '/blur', whole))
        assert connection.answer().status == 200


@pytest.mark.parametrize('kind', WHOLE)
def test_every_damage_gets_a_clean_answer(server, kind):
    whole = WHOLE[kind]
    random = numpy.random.default_rng(len(whole))
    with server.connect() as connection:
        for _ in range(150):
            damaged = bytearray(whole)
            for place in random.integers(0, len(whole), random.integers(1, 4)):
                damaged[place] = random.integers(0, 256)
            connection.send(wire.message('POST', '/blur', bytes(damaged)))
            answer = connection.answer()
            assert answer.status in (200, 400, 415, 422), f'{answer}: {damaged.hex()}'


def test_damaged_png_is_never_shown(server):
    """Checksums protect a PNG's pixels: any change of them must be noticed."""
    whole = WHOLE['png']
    start = whole.index(b'IDAT') + 4
    for place in range(start, len(whole) - 12, 211):
        damaged = whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1:]
        check_problem(server.post('/blur', damaged), 'corrupt-image')


# --- 415 ---------------------------------------------------------------------------------------
def targa(kind, depth):
    """A TGA file of 4x4 pixels without a footer; of kind 1 with a colour map."""
    mapped = kind & 7 == 1
    return struct.pack('<BBBHHBHHHHBB', 0, mapped, kind, 0, 256 * mapped, 24 * mapped, 0, 0, 4, 4, depth, 0x20) + bytes(800)


CURSOR = struct.pack('<HHHBBBBHHII', 0, 2, 1, 32, 32, 0, 0, 5, 5, 308, 22) + bytes(308)


@pytest.mark.parametrize('name,body', (
    ('GIF', b'GIF90a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\1\0\1\0\0\2\2D\1\0;'),
    ('SVG', b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'),
    ('SVG', b'<svg/>'), ('PDF', b'%PDF-1.7\n1 0 obj\n'), ('Photoshop', b'8BPS' + bytes(20)), ('OpenEXR', b'\x76\x2f\x31\x01' + bytes(60)),
    ('ZIP', b'PK\3\4' + bytes(30)),
    ('JPEG 2000', b'\xff\x4f\xff\x51' + bytes(20)), ('', b'hello, world'), ('', b'<html></html>'), ('', b'\0'), ('', bytes(1000)),
    ('TGA', targa(2, 24)), ('TGA', targa(2, 32)), ('TGA', targa(10, 16)), ('TGA', targa(3, 8)), ('TGA', targa(1, 8)),
    ('TGA', b'\7\1\1' + bytes(40) + b'TRUEVISION-XFILE.\0'), ('cursor', CURSOR), ('icon', b'\0\0\1' + CURSOR[3:]),
    ('JSON', b'{"image": "base64"}'), ('base64', b'iVBORw0KGgoAAAANSUhEUg'),
), ids=lambda v: v if isinstance(v, str) else '')
def test_other_formats(server, name, body):
    check_problem(server.post('/blur', body), 'unsupported-image', says=name)


def with_frame(change):
    data = bytearray(pictures.small_jpeg())
    at = data.index(b'\xff\xc0')
    change(data, at)
    return bytes(data)


def test_variants_of_jpeg_are_named(server):
    def twelve_bits(data, at):
        data[at + 4] = 12

    def lossless(data, at):
        data[at + 1] = 0xC7

    def hierarchical(data, at):
        data[at + 1] = 0xC5

    for change in (twelve_bits, lossless, hierarchical):
        check_problem(server.post('/blur', with_frame(change)), 'unsupported-image', says='JPEG')


# --- 413 ---------------------------------------------------------------------------------------
LIMIT = 64 << 10


@pytest.fixture(scope='module')
def small():
    """A daemon with small limits."""
    with daemon.Daemon('--max-body', '64KiB', '--max-pixels', '10000', '--max-side', '200', '--max-scans', '5') as running:
        yield running


def padded(size):
    """A good picture of exactly so many bytes."""
    body = pictures.small_png()
    return pictures.png(pictures.photograph(40, 30), before=[('prVt', bytes(size - len(body) - 12))])


def test_body_at_the_limit(small):
    assert len(padded(LIMIT)) == LIMIT
    assert small.post('/blur', padded(LIMIT)).status_code == 200
    check_problem(small.post('/blur', padded(LIMIT + 1)), 'body-too-large', says=str(LIMIT))


@pytest.mark.parametrize('size', (LIMIT + 1, 2 * LIMIT - 1, 2 * LIMIT))
def test_413_arrives_and_the_connection_goes_on(small, size):
    """Up to twice the limit the body is read and dropped, so that the answer is not lost."""
    for headers, body in ((f'Content-Length: {size}', bytes(size)), ('Transfer-Encoding: chunked', wire.chunked(bytes(size), 4000))):
        with small.connect() as connection:
            for _ in range(5):
                connection.send(wire.message('POST', '/blur', headers=[headers], length=False) + body)
                check_problem(connection.answer(), 'body-too-large')
            connection.send(wire.message('POST', '/blur', pictures.small_png()))
            assert connection.answer().status == 200


@pytest.mark.parametrize('size', (LIMIT + 1, 10 * LIMIT, 1 << 40, 10 ** 17))
def test_413_instead_of_100_continue(small, size):
    with small.connect() as connection:
        head = wire.message('POST', '/blur', headers=[f'Content-Length: {size}', 'Expect: 100-continue'], length=False)
        connection.send(head)
        check_problem(connection.answer(), 'body-too-large')


def test_413_of_an_enormous_declared_body(small):
    with small.connect() as connection:
        connection.send(wire.message('POST', '/blur', headers=[f'Content-Length: {1 << 40}'], length=False))
        check_problem(connection.answer(), 'body-too-large')
        assert connection.is_closed()


def test_an_endless_chunked_body_is_cut_off(small):
    with small.connect() as connection:
        connection.send(wire.message('POST', '/blur', headers=['Transfer-Encoding: chunked'], length=False))
        for _ in range(200):
            connection.send(b'4000\r\n' + bytes(0x4000) + b'\r\n')
        answers = connection.answers()
        assert [a.status for a in answers] in ([], [413])
    assert small.get('/livez').status_code == 200


# --- 422 ---------------------------------------------------------------------------------------
def claiming(body, width, height):
    """The same file, whose header says another size."""
    if body[:2] == b'\xff\xd8':
        at = body.index(b'\xff\xc0') + 5
        return body[:at] + struct.pack('>HH', height, width) + body[at + 4:]
    header = b'IHDR' + struct.pack('>II', width, height) + body[24:29]
    return body[:12] + header + struct.pack('>I', zlib.crc32(header)) + body[33:]


def test_too_many_pixels(small):
    for body in (pictures.png(pictures.photograph(101, 100)), pictures.jpeg(pictures.photograph(101, 100))):
        check_problem(small.post('/blur', body), 'limit-exceeded', says='10000')
    assert small.post('/blur', pictures.jpeg(pictures.photograph(100, 100))).status_code == 200


def test_what_telephones_make_is_within_the_limit(server):
    """64 megapixels, and one row more. The files contain only headers."""
    for width, height, name in ((8192, 6144, 'corrupt-image'), (8000, 8000, 'corrupt-image'), (8000, 8001, 'limit-exceeded')):
        for start in (pictures.jpeg(pictures.photograph(16, 16)), pictures.png(pictures.photograph(16, 16))):
            check_problem(server.post('/blur', claiming(start, width, height)), name)


def test_too_long_a_side(small):
    for size in ((201, 3), (3, 201)):
        for body in (pictures.png(pictures.photograph(*size)), pictures.jpeg(pictures.photograph(*size))):
            check_problem(small.post('/blur', body), 'limit-exceeded', says='200 pixels a side')
    assert small.post('/blur', pictures.png(pictures.photograph(200, 50))).status_code == 200


def test_too_many_scans(small):
    body = pictures.jpeg(pictures.photograph(60, 60), progressive=True)
    assert body.count(b'\xff\xda') > 5
    check_problem(small.post('/blur', body), 'limit-exceeded', says='5 scans')
    few = pictures.jpeg(pictures.photograph(60, 60))
    assert small.post('/blur', few).status_code == 200


def test_a_bomb_costs_nothing(server):
    """30000 x 30000 pixels in a few bytes: decided from the header."""
    header = bytearray(pictures.png(numpy.zeros((1, 1, 1), int)))
    body = header[:8] + pictures.chunk('IHDR', bytes.fromhex('0000753000007530') + b'\x08\x02\0\0\0') + header[33:]
    memory = server.status('VmRSS')
    answer = server.post('/blur', bytes(body))
    check_problem(answer, 'limit-exceeded', says='900000000')
    assert answer.elapsed.total_seconds() < 0.5 * daemon.SLOW
    assert server.status('VmRSS') - memory < 16 << 10


def test_a_picture_that_cannot_be_in_so_few_bytes(server):
    body = pictures.png(numpy.zeros((1, 1, 1), int))
    body = body[:8] + pictures.chunk('IHDR', bytes.fromhex('00001b5800001b58') + b'\x08\x02\0\0\0') + body[33:]
    memory = server.status('VmRSS')
    check_problem(server.post('/blur', body), 'corrupt-image')
    assert server.status('VmRSS') - memory < 16 << 10


@pytest.mark.alone  # beside others it waits for a processor, and that is 503
def test_work_that_takes_too_long_is_given_up(start):
    own = start('--work-timeout', f'{20 * daemon.SLOW:g}ms')
    answer = check_late(lambda: own.post(pictures.SLOW_QUERY, pictures.slow_png(3100)))  # 0.04 s at the lowest effort
    assert answer.status_code == 422
    assert answer.elapsed.total_seconds() < 3 * daemon.SLOW  # not the 10 that the highest effort takes
    assert own.post('/blur', pictures.small_png()).status_code == 200


# --- 414, 431 ----------------------------------------------------------------------------------
@pytest.mark.parametrize('size', (8193, 20000, 40000))
def test_414(server, size):
    answers = server.raw(wire.message('GET', '/livez?' + 'a' * (size - 7)))
    check_problem(answers[0], 'target-too-long')
    assert len(answers) == 1


@pytest.mark.parametrize('target', ('/livez?' + 'a&' * 4000, '/livez?' + '&' * 8000, '/livez?' + '&?' * 4000), ids=('names', 'empty', 'marks'))
def test_arguments_by_the_thousand_are_answered(server, target):
    """The library would keep a record for each and close without an answer once its memory is full."""
    answers = server.raw(wire.message('GET', target, headers=['Connection: close']))
    assert [a.status for a in answers] == [200]


def test_a_thousand_arguments_are_judged(server):
    answers = server.raw(wire.message('POST', '/blur?' + 'a&' * 4000, pictures.small_png(), headers=['Connection: close']))
    check_problem(answers[0], 'bad-parameter', 'a')
    answers = server.raw(wire.message('POST', '/blur?' + '&' * 4000 + 'sigma=2', pictures.small_png(), headers=['Connection: close']))
    assert [a.status for a in answers] == [200]
    answers = server.raw(wire.message('GET', '/' + 'a&' * 20000))
    check_problem(answers[0], 'target-too-long')


# --- Content-Encoding ------------------------------------------------------------------------
@pytest.mark.parametrize('fields,named', (
    (['gzip'], 'gzip'), (['br'], 'br'), (['GZIP'], 'GZIP'), (['x-gzip'], 'x-gzip'), (['identity, zstd'], 'zstd'), (['identity', 'deflate'], 'deflate'),
    (['gzip', 'identity'], 'gzip'), ([',, ,\tgzip'], 'gzip'), (['identity,' * 200 + 'gzip'], 'gzip'), (['gzip;q=1'], 'gzip;q=1'), (['identit'], 'identit'),
    (['a' * 5000], 'aaa'), (['"\\'], '\\x22\\x5c'),
), ids=range(13))
@pytest.mark.parametrize('target', ('/blur?sigma=2', '/stats', '/pipeline?ops=blur'))
def test_a_coded_body_is_refused_by_name(server, target, fields, named):
    with server.connect() as connection:  # refused before the body is sent
        connection.send(wire.message('POST', target, headers=['Content-Length: 9', 'Expect: 100-continue', *[('Content-Encoding', f) for f in fields]], length=False))
        answer = connection.answer()
        problem = check_problem(answer, 'unsupported-image', says='Content-Encoding')
        assert f'Content-Encoding {named}' in problem['detail'] and answer.header('Accept-Encoding') == 'identity'
    answers = server.raw(wire.message('POST', target, pictures.small_png(), headers=[*[('Content-Encoding', f) for f in fields]]) + wire.message(
        'GET', '/livez', headers=['Connection: close']))
    check_problem(answers[0], 'unsupported-image', says='Content-Encoding')
    assert answers[1].status == 200  # the body was read and thrown away


@pytest.mark.parametrize('fields', ([''], ['identity'], ['Identity'], ['identity, identity'], ['identity', 'IDENTITY'], [' , ']))
def test_a_body_as_it_is(server, fields):
    answers = server.raw(wire.message('POST', '/blur', pictures.small_png(), headers=['Connection: close', *[('Content-Encoding', f) for f in fields]]))
    assert answers[0].status == 200


def test_a_target_of_8_kib_is_read(server):
    answers = server.raw(wire.message('GET', '/livez?' + 'a' * (8192 - 7), headers=['Connection: close']))
    assert answers[0].status == 200


@pytest.mark.parametrize('headers', (
    [('X', 'a' * 17000)], [(f'X-{i}', 'a') for i in range(101)], [('X' * 17000, 'a')], [(f'X-{i}', 'a' * 1000) for i in range(20)],
), ids=('value', 'count', 'name', 'sum'))
def test_431(server, headers):
    answers = server.raw(wire.message('GET', '/livez', headers=headers))
    check_problem(answers[0], 'headers-too-large')
    assert len(answers) == 1


@pytest.mark.parametrize('message, status', (
    (b'GET /' + b'a' * 300000 + b' HTTP/1.1\r\nHost: a\r\n\r\n', 414),
    (b'GET /livez HTTP/1.1\r\nHost: a\r\nX: ' + b'a' * 300000 + b'\r\n\r\n', 431),
    (b'GET /livez HTTP/1.1\r\nHost: a\r\n' + b'X: a\r\n' * 50000 + b'\r\n', 431),
    (b'G' * 300000, 414),
), ids=('target', 'value', 'count', 'method'))
def test_far_too_large_a_head_is_cut_off(server, message, status):
    """Beyond the library's own limit, the answer is its short one; from 1.0 on a method without an end gets none."""
    answers = server.raw(message)
    silent = message.startswith(b'GG') and 'microhttpd 0.' not in server.get('/version').json()['http']
    assert [(a.status, a.header('Connection')) for a in answers] == ([] if silent else [(status, 'close')])
    assert server.get('/livez').status_code == 200


# --- faces without a model -------------------------------------------------------------------
def test_no_model(start):
    own = start('--face-model', 'none')
    for target in ('/detect', '/blur?detect=faces', '/pipeline?ops=blur&detect=faces'):
        check_problem(own.post(target, pictures.small_jpeg()), 'bad-parameter', 'detect',
                      'cannot find faces, as it has no model (--face-model; docs/faces.md#the-model-file')
    assert own.get('/version').json()['faces'] is False and own.get('/openapi.json').json()['x-faces'] is False
    assert own.post('/blur', pictures.small_jpeg()).status_code == 200
