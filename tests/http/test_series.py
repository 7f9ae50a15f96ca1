# SPDX-License-Identifier: MIT
"""POST /series: frames in and out of one stream, each with the bytes of a single request."""

import json
import select
import socket
import ssl
import threading
import time

import numpy
import pytest

import certificates
import daemon
import faces
import pictures
import streams
import wire

SOI, EOI = b'\xff\xd8', b'\xff\xd9'
BLUR = '/series/blur?sigma=3'


def frames(count, width=160, height=96):
    """JPEGs that differ."""
    return [pictures.jpeg(pictures.photograph(width, height, seed=i % 7 + 1), subsampling='420') for i in range(count)]


def single(server, target, body):
    answer = server.post(target, body)
    assert answer.status_code == 200, answer.text
    return answer.content


def check_problem(answer, status, slug, says):
    problem = json.loads(answer.body)
    assert answer.status == status and answer.whole and not answer.frames
    assert answer.headers['content-type'] == 'application/problem+json'
    assert problem['type'] == f'urn:blurd:problem:{slug}' and says in problem['detail'], problem


@pytest.mark.parametrize('target', ('blur?sigma=3', 'pipeline?ops=resize:width=60|sharpen', 'pixelate?block=8&mode=redact&region=5,5,40,40', 'rotate?angle=90',
                                    'redact?region=10,10,50,30&quality=50', 'crop?x=3&y=5&width=60&height=50&metadata=keep'))
def test_each_frame_is_what_a_single_request_gives(server, target):
    sent = [*frames(12), *frames(3, 99, 61), pictures.with_segments(frames(1)[0], pictures.exif_segment(6))]
    answer = streams.ask(server.port, f'/series/{target}', b''.join(sent))
    assert answer.whole and answer.status == 200 and answer.headers['content-type'] == 'video/x-mjpeg'
    assert answer.headers['x-request-id'] and 'content-length' not in answer.headers
    assert answer.frames == [single(server, f'/{target}', one) for one in sent]


@pytest.mark.parametrize('size', (1, 2, 3, 7, 1000, 1 << 20))
def test_pieces_of_any_size(server, size):
    body = b''.join(frames(4, 64, 48))
    expected = [single(server, '/blur?sigma=3', one) for one in frames(4, 64, 48)]
    assert streams.ask(server.port, BLUR, *(body[i:i + size] for i in range(0, len(body), size))).frames == expected


def test_a_declared_length(server):
    sent = frames(20)
    answer = server.post(BLUR, b''.join(sent))
    assert answer.headers['Transfer-Encoding'] == 'chunked' and answer.headers['Connection'] == 'close'
    assert answer.content == b''.join(single(server, '/blur?sigma=3', one) for one in sent)


def test_each_answer_comes_before_the_next_frame_is_sent(server):
    """Both directions at a time, with nothing held back."""
    with streams.Stream(server.port, BLUR) as stream:
        for i, one in enumerate(frames(5)):
            stream.put(one, SOI)  # whose end is only known by what follows it
            assert stream.wait_for_frames(i + 1)
            stream.put(one[2:])
            assert stream.wait_for_frames(i + 1)
        assert stream.finish().whole
        assert len(stream.frames) >= 5


def mpf(offset, size):
    """A segment that names a second picture, `offset` bytes behind its own TIFF header."""
    directory = b'II*\0\x08\0\0\0' + (3).to_bytes(2, 'little')
    for tag, kind, count, value in ((0xB000, 7, 4, int.from_bytes(b'0100', 'little')), (0xB001, 4, 1, 2), (0xB002, 7, 32, 50)):
        directory += tag.to_bytes(2, 'little') + kind.to_bytes(2, 'little') + count.to_bytes(4, 'little') + value.to_bytes(4, 'little')
    entries = bytes(16) + b'\0\0\0\0' + size.to_bytes(4, 'little') + offset.to_bytes(4, 'little') + bytes(4)
    return 0xE2, b'MPF\0' + directory + bytes(4) + entries


def with_map(base, map_):
    """As phones write Ultra HDR; the base's first segment is the index."""
    index = 2 + 4 + 4  # of the TIFF header: behind SOI, marker and length, identifier
    whole = pictures.with_segments(base, mpf(0, len(map_)))
    return pictures.with_segments(base, mpf(len(whole) - index, len(map_)))


def test_what_is_no_frame(server):
    """Thumbnails, junk, gain maps, restart markers, a missing EOI, large segments."""
    plain, thumbnail = frames(2)
    with_thumbnail = pictures.with_segments(plain, (0xE1, b'Exif\0\0II*\0\x08\0\0\0' + bytes(20) + thumbnail[:40000]))
    large = pictures.with_segments(plain, *[(0xEC, SOI + EOI + bytes(65000))] * 71)
    restarts = pictures.mosaic_jpeg(numpy.array([[40, 80], [120, 160]]), interval=1)
    hdr = with_map(plain, thumbnail)
    sent = [with_thumbnail, b'junk \xff\xff\xd8 \xff\xd8\0', large, restarts, hdr, thumbnail, hdr, thumbnail, plain[:-2], plain[:-2], plain, b'\xff', plain, b'\xff\xd8']
    expected = [with_thumbnail, large, restarts, hdr, hdr, plain, plain, plain, plain]
    answer = streams.ask(server.port, BLUR, b''.join(sent))
    assert answer.whole and answer.frames == [single(server, '/blur?sigma=3', one) for one in expected]


def test_a_picture_that_no_index_names_is_a_frame(server):
    plain, other = frames(2)
    answer = streams.ask(server.port, BLUR, pictures.with_segments(plain, mpf(77, len(other))), other)
    assert len(answer.frames) == 2


@pytest.mark.parametrize('target, body, status, slug, says', (
    (BLUR, b'', 400, 'corrupt-image', 'no series'),
    (BLUR, pictures.small_png(), 400, 'corrupt-image', 'no series'),
    (BLUR, SOI + b'\xff\xe0\0\1', 400, 'corrupt-image', 'frame 1'),
    (BLUR, SOI + b'\xff\xe0\0\7x', 400, 'corrupt-image', 'frame 1'),
    ('/series/blur?sigma=900', b'', 400, 'bad-parameter', 'sigma'),
    ('/series/blur?format=png', b'', 400, 'bad-parameter', 'format'),
    ('/series/stats', b'', 404, 'not-found', ''),
    ('/series/', b'', 404, 'not-found', ''),
    ('/series', b'', 404, 'not-found', ''),
    ('/series/crop?x=500&y=500&width=9&height=9', pictures.small_jpeg(), 400, 'bad-parameter', 'frame 1'),
    ('/series/redact?region=1,1,5,5&plan=true', b'', 400, 'bad-parameter', 'plan'),
))
def test_problems_before_the_first_frame(server, target, body, status, slug, says):
    check_problem(streams.ask(server.port, target, *([body] if body else [])), status, slug, says)


def test_methods_and_forms(server):
    assert server.get(BLUR).status_code == 405
    answer = server.post(BLUR, files={'image': ('a.jpg', pictures.small_jpeg())})
    assert answer.status_code == 415 and 'form' in answer.json()['detail']
    message = wire.message('POST', BLUR, pictures.small_jpeg(), version='HTTP/1.0')
    assert server.raw(message)[0].status == 400


def test_the_first_frame_that_fails_ends_the_series(server):
    good = frames(6)
    bad = good[2][:len(good[2]) // 2] + EOI
    answer = streams.ask(server.port, BLUR, *good[:4], bad, *good[4:])
    assert answer.status == 200 and not answer.whole
    assert answer.frames == [single(server, '/blur?sigma=3', one) for one in good[:4]]
    assert server.wait_for_line(r'path=/series/blur .*reason=corrupt-image detail="frame 5: .*frames=4')


def test_a_frame_over_the_limit(start):
    own = start('--max-body', '64KiB')
    small, large = frames(1)[0], pictures.jpeg(pictures.noise(400, 300))
    answer = streams.ask(own.port, BLUR, *[small] * 40)
    assert answer.whole and len(answer.frames) == 40
    answer = streams.ask(own.port, BLUR, small, large)
    assert not answer.whole and len(answer.frames) == 1
    check_problem(streams.ask(own.port, BLUR, large, small), 413, 'body-too-large', '65536')


@faces.needed
def test_frames_without_a_face(server):
    """They are answered, unless the client asks for another thing."""
    face, none = faces.photograph(), frames(1)[0]
    target = 'redact?detect=faces&detect_hold=0'
    answer = streams.ask(server.port, f'/series/{target}', none, face, none)
    assert answer.whole and answer.frames == [single(server, f'/{target}&require=false', one) for one in (none, face, none)]
    assert server.post(f'/{target}', none).status_code == 422
    answer = streams.ask(server.port, f'/series/{target}&require=true', face, none)
    assert not answer.whole and len(answer.frames) == 1


def test_ten_thousand_frames(start):
    own = start()
    small = pictures.small_jpeg()
    streams.ask(own.port, BLUR, *[small] * 200)
    before = own.status('VmRSS')
    answer = streams.ask(own.port, BLUR, *[small * 100] * 100)
    assert answer.whole and len(answer.frames) == 10000 and len(set(answer.frames)) == 1
    assert daemon.SANITIZED or own.status('VmRSS') < before + (8 << 10)  # sanitizers keep what is freed for a while
    metrics = own.metrics()
    assert metrics['blurd_frames_total'] == 10200 and metrics['blurd_requests_in_flight'] == 1
    lines = lambda: [line for line in own.lines if 'path=/series' in line]
    assert daemon.eventually(lambda: len(lines()) == 2)
    assert 'frames=10000' in lines()[1] and 'status=200' in lines()[1]


def fill(connection, data):
    """Sends until nothing more is taken for half a second; how many bytes that were."""
    connection.socket.settimeout(0.5)
    sent = 0
    try:
        while True:
            sent += connection.socket.send(data[sent % len(data):])
    except TimeoutError:
        return sent


def test_a_client_that_does_not_read_is_held_back(start):
    own = start('--write-timeout', '3s')
    large = pictures.jpeg(pictures.photograph(1600, 1200), 95)
    with own.connect(30) as connection:
        connection.send(wire.message('POST', BLUR, length=False, headers=[f'Content-Length: {len(large) * 4000}']))
        sent = fill(connection, large * 4)
        assert sent < 64 << 20, 'kernels hold less'
        held = own.metrics()['blurd_slot_bytes']
        assert sent > 4 * len(large) and held < 300 << 20
        assert own.post('/blur?sigma=3', pictures.small_jpeg()).status_code == 200
        assert own.wait_for_line(r'path=/series/blur .*reason=timeout', timeout=20)
    assert daemon.eventually(lambda: own.metrics()['blurd_requests_in_flight'] == 1)


def test_work_is_not_held_to_the_time_of_the_body(start):
    own = start('--workers', 1, '--body-timeout', '100ms', '--min-rate', '0', '--work-timeout', f'{10 * daemon.SLOW:g}s')
    begun = time.monotonic()
    answer = streams.ask(own.port, '/series/pipeline?ops=' + '|'.join(['median:radius=25'] * 8), pictures.jpeg(pictures.noise(1800, 1800, 3)))
    assert answer.whole and len(answer.frames) == 1
    assert time.monotonic() - begun > 0.3, 'the frame was done before it could be late'
    own.stop()
    assert not any('internal error' in line for line in own.lines), 'the end of a connection is no fault'


def test_a_client_that_stops_sending(start):
    own = start('--body-timeout', '400ms')
    with streams.Stream(own.port, BLUR) as stream:
        stream.put(*frames(3))
        assert stream.wait_for_frames(3) and not stream.wait().whole
    with streams.Stream(own.port, BLUR) as stream:
        stream.put(frames(1)[0][:100])
        check_problem(stream.wait(), 408, 'timeout', 'body')
    assert own.wait_for_line(r'path=/series/blur .*reason=timeout.*frames=3')


def test_a_client_that_leaves(start):
    own = start()
    for ends in ('close', 'reset'):
        stream = streams.Stream(own.port, BLUR, reads=False)
        stream.put(*frames(30), frames(1)[0][:99])
        getattr(stream, ends)()
    for name in ('blurd_requests_in_flight', 'blurd_connections_open'):  # 1: that of the question itself
        assert daemon.eventually(lambda: own.metrics()[name] == 1), name


def test_a_slow_frame_keeps_its_place(start):
    own = start('--workers', 2)
    slow, fast = pictures.jpeg(pictures.photograph(2000, 1500)), frames(1)[0]
    sent = [slow, fast, fast, fast, slow, fast]
    answer = streams.ask(own.port, '/series/blur?sigma=50', *sent)
    assert [len(one) for one in answer.frames] == [len(single(own, '/blur?sigma=50', one)) for one in sent]


def test_two_series_beside_single_requests(start):
    own = start('--workers', 2)
    sent, answers = frames(8) * 15, []
    threads = [threading.Thread(target=lambda: answers.append(streams.ask(own.port, BLUR, *sent))) for _ in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert own.post('/blur?sigma=3', sent[0]).status_code == 200
    assert len(answers) == 2 and all(one.whole and len(one.frames) == 120 for one in answers)
    assert answers[0].frames == answers[1].frames


def test_frames_wait_where_requests_are_refused(start):
    """A queue of one: frames of a series are submitted again."""
    own = start('--workers', 1, '--queue', 1)
    answer = streams.ask(own.port, BLUR, *frames(8) * 5)
    assert answer.whole and len(answer.frames) == 40


def test_the_time_limit_is_that_of_a_frame(start):
    own = start('--work-timeout', '300ms')
    answer = streams.ask(own.port, BLUR, *frames(20) * 10)
    assert answer.whole and len(answer.frames) == 200


def test_drain(start):
    """Frames that have arrived are answered; the answer is not called whole."""
    own = start('--workers', 1)
    with streams.Stream(own.port, BLUR) as stream, streams.Stream(own.port, BLUR) as idle:
        stream.put(*frames(2))
        assert stream.wait_for_frames(2)
        own.process.terminate()
        assert not stream.wait().whole and len(stream.frames) == 2
        check_problem(idle.wait(), 503, 'overloaded', 'shutting down')
    assert own.wait() == 0


def test_tokens(start, tmp_path):
    (tmp_path / 'tokens').write_text('secret-secret-secret\n')
    own = start('--token-file', tmp_path / 'tokens')
    check_problem(streams.ask(own.port, BLUR, frames(1)[0]), 401, 'unauthorized', 'token')
    answer = streams.ask(own.port, BLUR, frames(1)[0], headers=['Authorization: Bearer secret-secret-secret'])
    assert answer.whole and len(answer.frames) == 1


def test_pages_of_other_origins(start):
    own = start('--cors-origins', 'https://example.org')
    answer = streams.ask(own.port, BLUR, frames(1)[0], headers=['Origin: https://example.org'])
    assert answer.headers['access-control-allow-origin'] == 'https://example.org' and answer.whole


class SecureStream(streams.Stream):
    """OpenSSL lets one thread at a time at a connection, and Python before 3.13 does not see to it: a read beside a write could end as if
    the connection had ended."""
    def __init__(self, port, target, using, **more):
        self.using, self.turn = using, threading.Lock()
        super().__init__(port, target, **more)

    def send(self, data):
        with self.turn:
            super().send(data)

    def _more(self):
        if not self.socket.pending() and not select.select([self.socket], [], [], 20)[0]:
            raise TimeoutError
        with self.turn:
            return super()._more()

    def begin(self, target, headers):
        self.socket = self.using.wrap_socket(self.socket, server_hostname='localhost')
        super().begin(target, headers)


@certificates.needed
@pytest.mark.parametrize('version', (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3))
def test_tls(start, pair, version):
    own = start('--tls-cert', pair.certificate, '--tls-key', pair.key)
    sent = frames(6, 640, 480)
    with SecureStream(own.port, BLUR, certificates.context(pair, version, version)) as stream:
        for i, one in enumerate(sent):
            stream.put(one)
            assert stream.wait_for_frames(i + 1)
        stream.finish()
    assert stream.whole and len(stream.frames) == 6
    with SecureStream(own.port, BLUR, certificates.context(pair, version, version), reads=False) as stream:
        stream.socket.settimeout(30)
        for one in sent * 4:
            stream.put(one)
        assert stream.finish().whole and len(stream.frames) == 24


def test_expect_continue(server):
    with streams.Stream(server.port, BLUR, headers=['Expect: 100-continue']) as stream:
        stream.put(*frames(2))
        assert stream.finish().whole and len(stream.frames) == 2


def test_a_half_closed_connection(server):
    with streams.Stream(server.port, BLUR) as stream:
        stream.put(*frames(9))
        stream.send(b'0\r\n\r\n')
        stream.socket.shutdown(socket.SHUT_WR)
        assert stream.wait().whole and len(stream.frames) == 9


def test_a_second_request_does_not_follow(server):
    with streams.Stream(server.port, BLUR) as stream:
        stream.put(frames(1)[0])
        stream.send(b'0\r\n\r\n' + wire.message('GET', '/livez'))
        assert stream.wait().whole and len(stream.frames) == 1
