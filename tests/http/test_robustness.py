# SPDX-License-Identifier: MIT
"""After hundreds of good, bad and torn requests everything is as before."""

import collections
import random
import threading

import numpy
import pytest
import requests

import daemon
import pictures
import wire

LEFT = 'blurd_requests_in_flight'


@pytest.fixture(scope='module')
def watched():
    """A daemon that has already seen its worst: every slot and every thread exists."""
    with daemon.Daemon('--workers', 4, '--body-timeout', '20s') as running:
        head = wire.message('POST', '/blur', headers=['Content-Length: 9000000'], length=False)
        crowd = [running.connect() for _ in range(24)]
        for connection in crowd:
            connection.send(head + bytes(8 << 20))
        assert daemon.eventually(lambda: running.metrics()['blurd_received_bytes_total'] == 24 * (8 << 20))
        for connection in crowd:
            connection.close()
        at_rest(running)
        load(running)
        at_rest(running)
        yield running


def at_rest(watched):
    def quiet():
        metrics = watched.metrics()
        # libmicrohttpd 1.0 frees a closed connection only after the next event, which is the next question here.
        return metrics[LEFT] == 1 and metrics['blurd_connections_open'] <= 2 and metrics['blurd_queue_depth'] == 0
    assert daemon.eventually(quiet), watched.metrics()


JPEG, PNG = pictures.jpeg(pictures.photograph(400, 300)), pictures.png(pictures.photograph(300, 200, 4))
KINDS = (  # target, body, headers, status
    ('/blur?sigma=2', JPEG, {}, 200), ('/blur?sigma=20&format=png', JPEG, {}, 200), ('/blur?sigma=5&format=jpeg', PNG, {}, 200),
    ('/blur', PNG, {}, 200), ('/blur?sigma=300', pictures.small_jpeg(), {'Accept': 'image/png'}, 200),
    ('/blur?sigma=2', JPEG[:5000], {}, 400), ('/blur', PNG[:-5000], {}, 400), ('/blur?sigma=x', JPEG, {}, 400), ('/blur', b'', {}, 400),
    ('/blur', b'%PDF-1' * 1000, {}, 415), ('/nothing', JPEG, {}, 404), ('/livez', JPEG, {}, 405),
    ('/blur', JPEG, {'Content-Type': 'multipart/form-data; boundary=x'}, 400), ('/blur', bytes(21 << 20), {}, 413),
)


def load(watched, threads=8, requests_each=40):
    failures = collections.Counter()

    def work(seed):
        order = random.Random(seed)
        with requests.Session() as session:
            for _ in range(requests_each):
                target, body, headers, wanted = order.choices(KINDS, [1 if len(k[1]) > 1 << 20 else 6 for k in KINDS])[0]
                try:
                    status = session.post(watched.url(target), body, headers=headers, timeout=60 * daemon.SLOW).status_code
                except requests.RequestException as error:
                    status = type(error).__name__
                if status != wanted:
                    failures[target, wanted, status] += 1

    crowd = [threading.Thread(target=work, args=(seed,)) for seed in range(threads)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join(120 * daemon.SLOW)
    assert not failures


def footprint(watched):
    at_rest(watched)
    return watched.descriptors(), watched.status('Threads'), watched.status('VmRSS')


def compare(watched, before):
    after = footprint(watched)
    # The last connection may still be closing (with libmicrohttpd 1.0 until something else happens).
    assert daemon.eventually(lambda: watched.descriptors() <= before[0] + 1), f'descriptors leak: {before[0]} -> {after[0]}'
    assert after[1] == before[1], 'threads leak'
    # Sanitizers keep freed memory.
    assert after[2] - before[2] < (32 << 10 if daemon.SLOW == 1 else 512 << 10), 'memory grows'
    return after


def test_mixed_load_leaves_nothing_behind(watched, say):
    before = footprint(watched)
    load(watched)
    after = compare(watched, before)
    say(f'320 mixed requests: descriptors {before[0]} -> {watched.descriptors()}, threads {after[1]}, '
        f'RSS {before[2] >> 10} -> {after[2] >> 10} MiB')


def test_clients_that_leave_at_any_moment(watched):
    before = footprint(watched)
    order = random.Random(4)
    message = wire.message('POST', '/blur?sigma=3', JPEG, ['X-Request-Id: leaver'])
    head = message.index(b'\r\n\r\n')
    for i in range(200):
        connection = watched.connect()
        stage = i % 4
        end = (order.randrange(head), order.randrange(head, len(message)), len(message), len(message))[stage]
        connection.send(message[:end])
        if stage == 3:  # in the middle of the answer
            connection.socket.recv(order.randrange(1, 3000))
        connection.reset() if order.random() < 0.5 else connection.close()
    answer = watched.post('/blur?sigma=3', JPEG)
    assert answer.status_code == 200
    compare(watched, before)


@pytest.mark.parametrize('end', (30, -50), ids=('head', 'body'))
@pytest.mark.parametrize('how', ('close', 'half close', 'reset'))
def test_a_client_that_stops_is_noticed_before_its_time_is_up(start, end, how):
    """Data and the end may come in one wake-up."""
    patience = f'{10 * daemon.SLOW:.0f}s'
    own = start('--header-timeout', patience, '--body-timeout', patience)
    connections = [own.connect() for _ in range(40)]
    for connection in connections:
        connection.send(wire.message('POST', '/blur', pictures.small_png())[:end])
        if how == 'half close':
            connection.socket.shutdown(1)
        else:
            connection.close() if how == 'close' else connection.reset()
    try:
        assert daemon.eventually(lambda: own.metrics()['blurd_connections_open'] == 1, 3)
    finally:
        for connection in connections:
            connection.close()


def test_the_same_picture_gives_the_same_bytes_whatever_came_before(watched):
    """Memory is reused: an answer must not show data of another request."""
    wanted = {(k[0], k[1]): watched.post(k[0], k[1]).content for k in KINDS[:4]}
    for seed in range(30):
        noise = pictures.png(numpy.random.default_rng(seed).integers(0, 256, (40 + 9 * seed, 300 - 7 * seed, 3), numpy.uint8))
        for body in (noise, noise[:-len(noise) // 3]):
            watched.post('/blur?sigma=1', body)
        target, body = list(wanted)[seed % len(wanted)]
        assert watched.post(target, body).content == wanted[target, body]


def test_parallel_answers_are_not_mixed_up(watched):
    """Every client gets its own picture: tones tell them apart."""
    wrong = []

    def work(tone):
        body = pictures.png(numpy.full((20 + tone % 7, 30 + tone % 11, 1), tone, numpy.uint8))
        wanted = watched.post('/blur?sigma=4', body).content
        with requests.Session() as session:
            for i in range(40):
                name = f'{tone}-{i}'
                answer = session.post(watched.url('/blur?sigma=4'), body, headers={'X-Request-Id': name}, timeout=60 * daemon.SLOW)
                if answer.content != wanted or answer.headers['X-Request-Id'] != name:
                    wrong.append(name)

    crowd = [threading.Thread(target=work, args=(tone,)) for tone in range(10, 250, 30)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join(120 * daemon.SLOW)
    assert not wrong


def test_work_for_clients_that_left_is_not_done(start):
    own = start('--workers', 1)
    slow = wire.message('POST', pictures.SLOW_QUERY, pictures.slow_png())
    with own.connect() as first:
        first.send(slow)
        assert daemon.eventually(lambda: own.metrics()[LEFT] == 2)
        for _ in range(5):
            with own.connect() as leaver:
                leaver.send(slow)
                assert daemon.eventually(lambda: own.metrics()[LEFT] >= 3)
                leaver.reset()
        assert first.answer().status == 200
    assert daemon.eventually(lambda: own.metrics()[LEFT] == 1)
    assert own.metrics()['blurd_rejections_total{reason="cancelled"}'] == 5
