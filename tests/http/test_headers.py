# SPDX-License-Identifier: MIT
"""Headers of good answers, HEAD, and connections that go on."""

import re

import pytest
import requests

import evidence
import pictures
import wire
from problems import check_problem

STAGES = ('queue', 'decode', 'upload', 'filter', 'download', 'encode', 'total')


@pytest.mark.parametrize('body', (pictures.small_jpeg(), pictures.small_png()), ids=('jpeg', 'png'))
def test_picture(server, body):
    answer = server.post('/blur?sigma=2', body)
    assert answer.headers['Content-Type'] in ('image/jpeg', 'image/png')
    assert int(answer.headers['Content-Length']) == len(answer.content)
    assert re.fullmatch(r'cpu/\w+|cuda:\d+', answer.headers['X-Backend'])
    assert re.fullmatch(r'[0-9a-f]{16}', answer.headers['X-Request-Id'])
    assert answer.headers['X-Content-Type-Options'] == 'nosniff'
    assert 'Date' in answer.headers


def test_server_timing(server):
    answer = server.post('/blur?sigma=9', pictures.png(pictures.photograph(300, 200)))
    *stages, way = answer.headers['Server-Timing'].split(', ')
    entries = [re.fullmatch(r'(\w+);dur=(\d+\.\d+)', e) for e in stages]
    assert way in ('way;desc="cpu"', 'way;desc="gpu-filter"')
    assert all(entries) and tuple(e[1] for e in entries) == STAGES
    times = {e[1]: float(e[2]) for e in entries}
    assert times['decode'] > 0 and times['filter'] > 0 and times['encode'] > 0
    assert sum(times[s] for s in STAGES[:-1]) <= times['total'] + 0.01
    assert times['total'] <= answer.elapsed.total_seconds() * 1000


def test_server_timing_of_rows_that_are_filtered_during_decoding(start):
    """Filters follow the decoder here, and their time is not the decoder's."""
    own = start('--workers', 1)
    body = pictures.jpeg(pictures.photograph(1200, 1000))
    for _ in range(4):
        text = own.post('/blur?sigma=1', body).headers['Server-Timing']
        times = {name: float(ms) for name, ms in re.findall(r'(\w+);dur=([\d.]+)', text)}
        assert tuple(times) == STAGES and min(times.values()) >= 0, text
        assert sum(times[s] for s in STAGES[:-1]) <= times['total'] + 0.01, text


def test_version_names_the_http_library(server):
    assert re.match(r'libmicrohttpd \d', server.get('/version').json()['http'])


FACES = 'detect=faces&require=false'


@pytest.mark.parametrize('target', ('/blur?sigma=2', '/crop?width=9&height=9', '/resize?width=9&format=auto', '/pipeline?ops=blur:sigma=2|resize:width=9',
                                    '/rotate?lossless=true&angle=180', '/redact?region=1,1,9,9', '/stats', '/placeholder', f'/redact?{FACES}',
                                    f'/redact?{FACES}&plan=true', '/detect?detect=faces', '/series/blur'))
def test_no_cache_keeps_what_was_made_of_a_picture(server, target):
    answer = server.post(target, pictures.jpeg(pictures.photograph(64, 48)))
    assert answer.status_code == 200 and answer.headers['Cache-Control'] == 'no-store', answer.content[:300]
    assert 'ETag' not in answer.headers


@pytest.mark.parametrize('accept', ('multipart/mixed', 'application/json'))
def test_no_cache_keeps_a_report(signing, reported, accept):
    report, picture, body = reported
    answer = signing.post(f'/redact?{evidence.REGION}&report=true', body, headers={'Accept': accept})
    assert answer.status_code == 200 and answer.headers['Content-Type'].startswith(accept) and answer.headers['Cache-Control'] == 'no-store'
    answer = evidence.verify(signing, report, picture)
    assert answer.status_code == 200 and answer.headers['Cache-Control'] == 'no-store'


@pytest.mark.parametrize('path', ('/', '/livez', '/readyz', '/version', '/metrics'))
def test_no_cache_keeps_a_page(server, path):
    assert server.get(path).headers['Cache-Control'] == 'no-store'


def test_request_ids_are_different(server):
    ids = {server.get('/livez').headers['X-Request-Id'] for _ in range(50)}
    assert len(ids) == 50


@pytest.mark.parametrize('given', ('a', 'trace-1/2:3.4+5=6@7_8', 'x' * 64))
def test_own_request_id(server, given):
    answer = server.post('/blur', pictures.small_png(), headers={'X-Request-Id': given})
    assert answer.headers['X-Request-Id'] == given
    answer = server.post('/blur', b'', headers={'X-Request-Id': given})
    assert check_problem(answer, 'corrupt-image')['request_id'] == given


@pytest.mark.parametrize('given', ('', 'x' * 65, 'two words', 'a"b', 'a\\b', "a'b", '<script>', 'a,b', 'a;b', '{}', '\xe4',
                                   'a\tb', '%0a', '\x7f', 'x' * 5000))
def test_hostile_request_id_is_replaced(server, given):
    answers = server.raw(wire.message('GET', '/livez', headers=[('X-Request-Id', given), 'Connection: close']))
    if answers[0].status == 200:
        assert re.fullmatch(r'[0-9a-f]{16}', answers[0].header('X-Request-Id'))
    else:
        check_problem(answers[0], 'bad-request')


@pytest.mark.parametrize('target', ('/livez', '/readyz', '/version', '/metrics', '/'))
def test_head(server, target):
    with server.connect() as connection:
        connection.send(wire.message('HEAD', target))
        answer = connection.answer(head=True)
        assert answer.status == 200 and int(answer.header('Content-Length')) > 0
        connection.send(wire.message('GET', '/livez'))  # a body after HEAD would stand in the way
        assert connection.answer().body == b'{"status":"alive"}\n'


def test_many_requests_on_one_connection(server):
    before = server.metrics()['blurd_connections_total']
    with requests.Session() as session:
        for i in range(30):
            body = (pictures.small_jpeg(), pictures.small_png(), b'', b'%PDF-1')[i % 4]
            answer = session.post(server.url('/blur'), body, timeout=20)
            assert answer.status_code == (200, 200, 400, 415)[i % 4]
    assert server.metrics()['blurd_connections_total'] - before <= 2  # the second is this one's


def test_pipelined_requests_are_answered_in_order(server):
    ids = [f'number-{i}' for i in range(40)]
    messages = [wire.message('POST', '/blur?sigma=1', pictures.small_png(), [('X-Request-Id', name)]) if i % 2 else
                wire.message('GET', '/livez', headers=[('X-Request-Id', name)]) for i, name in enumerate(ids)]
    with server.connect() as connection:
        connection.send(b''.join(messages))
        answers = [connection.answer() for _ in ids]
    assert [a.header('X-Request-Id') for a in answers] == ids
    assert {a.status for a in answers} == {200}


def test_connection_close_and_http_1_0(server):
    for message in (wire.message('GET', '/livez', headers=['Connection: close']),
                    wire.message('GET', '/livez', version='HTTP/1.0')):
        with server.connect() as connection:
            connection.send(message)
            assert connection.answer().status == 200
            assert connection.is_closed()


@pytest.mark.parametrize('size', (1, 7, 1000, 1 << 20))
def test_chunked_body(server, size):
    body = pictures.small_png()
    whole = server.post('/blur?sigma=2', body).content
    message = wire.message('POST', '/blur?sigma=2', headers=['Transfer-Encoding: chunked'], length=False)
    with server.connect() as connection:
        for _ in range(2):
            connection.send(message + wire.chunked(body, size))
            answer = connection.answer()
            assert answer.status == 200 and answer.body == whole


def test_expect_100_continue(server):
    with server.connect() as connection:
        connection.send(wire.message('POST', '/blur', headers=[f'Content-Length: {len(pictures.small_png())}',
                                                               'Expect: 100-continue'], length=False))
        assert connection.answer().status == 100
        connection.send(pictures.small_png())
        assert connection.answer().status == 200


def test_byte_by_byte(server):
    message = wire.message('POST', '/blur?sigma=1', pictures.png(pictures.photograph(3, 3)))
    with server.connect() as connection:
        for i in range(len(message)):
            connection.send(message[i:i + 1])
        assert connection.answer().status == 200
