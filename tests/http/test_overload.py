# SPDX-License-Identifier: MIT
"""503: a full queue and a spent memory budget refuse at once, and it passes."""

import threading

import daemon
import pictures
import wire
from problems import check_problem

SLOW = wire.message('POST', pictures.SLOW_QUERY, pictures.slow_png(1250))


def depth(server):
    return server.metrics()['blurd_queue_depth']


def test_full_queue(start):
    own = start('--workers', 1, '--queue', 1)
    received = 'blurd_received_bytes_total'
    with own.connect() as first, own.connect() as second:
        first.send(SLOW)
        assert daemon.eventually(lambda: own.metrics()[received] >= len(pictures.slow_png(1250)) and depth(own) == 0)
        second.send(SLOW)
        assert daemon.eventually(lambda: depth(own) == 1)
        for body in (pictures.small_png(), pictures.small_jpeg()):
            answer = own.post('/blur', body)
            check_problem(answer, 'overloaded', says='waiting')
            assert int(answer.headers['Retry-After']) >= 1
            assert answer.elapsed.total_seconds() < 0.3 * daemon.SLOW
        assert own.get('/readyz').status_code == 200, 'operations do not wait in the queue'
        assert {first.answer().status, second.answer().status} == {200}
    assert own.post('/blur', pictures.small_png()).status_code == 200
    assert own.metrics()['blurd_rejections_total{reason="overloaded"}'] == 2


def test_many_at_once_get_a_picture_or_503(start):
    own = start('--workers', 1, '--queue', 3)
    body, statuses = pictures.slow_png(400), []
    threads = [threading.Thread(target=lambda: statuses.append(own.post(pictures.SLOW_QUERY, body).status_code)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60 * daemon.SLOW)
    assert len(statuses) == 16 and set(statuses) <= {200, 503}
    assert statuses.count(200) >= 4


def test_memory_budget(start):
    """Bodies count as they arrive: three of 20 MB that stop before their end fill 64 MiB."""
    own = start('--memory', '64MiB', '--workers', 2)
    picture = pictures.png(pictures.photograph(1700, 1500) // 64)
    assert own.post('/blur', picture).status_code == 200
    part = wire.message('POST', '/blur', headers=[f'Content-Length: {20 << 20}'], length=False) + bytes(19 << 20)
    before = own.metrics()['blurd_received_bytes_total']
    holders = [own.connect(30) for _ in range(3)]
    for holder in holders:
        holder.send(part)
    assert daemon.eventually(lambda: own.metrics()['blurd_received_bytes_total'] - before >= 3 * (19 << 20))
    answer = own.post('/blur', picture)
    check_problem(answer, 'overloaded', says='memory')
    assert answer.headers['Retry-After']
    for holder in holders:
        holder.close()
    assert daemon.eventually(lambda: own.post('/blur', picture).status_code == 200)


def test_a_picture_larger_than_the_whole_budget(start):
    own = start('--memory', '64MiB')
    answer = own.post('/blur', pictures.png(pictures.photograph(4000, 3000, 1).repeat(3, 2) // 128))
    check_problem(answer, 'limit-exceeded', says='budget')
    assert own.post('/blur', pictures.small_png()).status_code == 200


def test_connections_beyond_the_limit_wait(start):
    own = start('--connections', 4, '--connections-soft', 4)
    held = [own.connect() for _ in range(4)]
    for connection in held:
        connection.send(wire.message('GET', '/livez'))
        assert connection.answer().status == 200
    with own.connect() as waiting:
        waiting.send(wire.message('GET', '/livez'))
        held[0].close()
        assert waiting.answer().status == 200
    for connection in held:
        connection.close()
