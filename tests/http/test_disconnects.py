# SPDX-License-Identifier: MIT
"""Clients that go away at any moment: the work is dropped and no resource leaks."""

import os
import random
import select
import socket
import time

import daemon
import pictures
import wire

CLIENTS = int(os.environ.get('BLURD_DISCONNECTS', 2000))
CANCELLED = 'blurd_rejections_total{reason="cancelled"}'


def settle(own):
    """Waits until the only request is that for the metrics. Returns the resources held then."""
    idle = lambda: own.metrics() if own.metrics()['blurd_requests_in_flight'] == 1 else None
    found = daemon.eventually(idle, 20)
    assert found and daemon.eventually(lambda: own.metrics()['blurd_connections_open'] == 1)
    assert own.metrics()['blurd_queue_depth'] == 0
    kinds = [link.split(':')[0] for link in own.open_files().values()]
    slots = sum(kind.startswith('/memfd') for kind in kinds)  # idle ones are kept for the next request
    return {'descriptors': len(kinds) - slots, 'slots': slots, 'slot bytes': own.metrics()['blurd_slot_bytes'], 'threads': own.status('Threads')}


def leave(own, chance, message):
    """One client: sends some of the message, may wait, may read some of the answer, and disconnects."""
    connection = own.connect()
    part = chance.choice((0, 1, chance.randrange(len(message)), len(message), len(message)))
    connection.send(message[:part])
    if chance.random() < 0.3:
        time.sleep(chance.random() * 0.02)
    if chance.random() < 0.2 and select.select([connection.socket], [], [], 0.05)[0]:
        connection.socket.recv(chance.randrange(1, 2000))
    if chance.random() < 0.5:
        connection.reset()
    else:
        connection.close()


def test_clients_that_leave_at_any_moment(start, say):
    own = start('--workers', 2, '--queue', 64)
    messages = [wire.message('POST', '/blur?sigma=3', pictures.small_png()), wire.message('POST', '/blur?sigma=3', pictures.small_jpeg()),
                wire.message('POST', '/blur?sigma=9', pictures.png(pictures.photograph(300, 200))), wire.message('GET', '/metrics')]
    chance = random.Random(1)
    for _ in range(400):  # warm: slots and threads are made
        leave(own, chance, chance.choice(messages))
    before, memory = settle(own), own.status('VmRSS')
    for _ in range(CLIENTS):
        leave(own, chance, chance.choice(messages))
    after = settle(own)
    say(f'{CLIENTS} clients left: {before} before, {after} after, {own.status("VmRSS") - memory:+d} kB, '
        f'{own.metrics()[CANCELLED]:.0f} counted as cancelled')
    assert daemon.eventually(lambda: settle(own)['descriptors'] <= before['descriptors']) and after['threads'] == before['threads']
    assert after['slots'] <= 2 + 64 + 2, 'no more than workers and queue ever had'
    assert own.post('/blur', pictures.small_png()).status_code == 200


def test_what_waits_in_the_queue_is_dropped(start, say):
    """The worker for large pictures is busy; all that wait behind it reset their connections. No work is done for
    them."""
    own = start('--workers', 1, '--queue', 256, '--work-timeout', '1m')
    with own.connect() as holder:
        holder.send(wire.message('POST', pictures.SLOW_QUERY, pictures.slow_png(1250)))
        assert daemon.eventually(lambda: own.metrics()['blurd_requests_in_flight'] == 2)
        waiting = [own.connect() for _ in range(100)]
        for i, connection in enumerate(waiting):
            connection.send(wire.message('POST', f'{pictures.SLOW_QUERY}', pictures.slow_png(300), [f'X-Request-Id: gone-{i}']))
        assert daemon.eventually(lambda: own.metrics()['blurd_queue_depth'] >= 90)  # a usual cost is not large
        for connection in waiting:
            connection.reset()
        assert holder.answer().status == 200, 'the one that stays'
    begin = time.monotonic()
    settle(own)
    took = time.monotonic() - begin
    gone = [line for line in own.lines if 'id=gone-' in line]
    dropped = [line for line in gone if 'status=499' in line and 'decode_ms=0.000' in line]
    say(f'100 left the queue: {len(dropped)} dropped without work, in {took * 1e3:.0f} ms')
    assert len(gone) >= 90 and len(dropped) >= 85


def test_a_client_that_has_closed_its_side_gets_its_answer(start):
    """It has said all, and reads on: the end of its stream (FIN) is no reset. The first request is at work, the others wait."""
    own = start('--workers', 1)
    messages = [wire.message('POST', pictures.SLOW_QUERY, pictures.slow_png(500))]
    messages += [wire.message('POST', '/blur?sigma=2', pictures.small_png())] * 5
    connections = [own.connect(60) for _ in messages]
    for connection, message in zip(connections, messages):
        connection.send(message)
        connection.socket.shutdown(socket.SHUT_WR)
    for connection in connections:
        answer = connection.answer()
        assert answer and answer.status == 200
        assert connection.is_closed()
        connection.close()
    assert own.metrics()[CANCELLED] == 0


def test_pipelined_requests_before_the_end_of_the_stream(start):
    own = start()
    for _ in range(20):
        with own.connect() as connection:
            connection.send(wire.message('GET', '/livez') + wire.message('POST', '/blur?sigma=2', pictures.small_png()) + wire.message('GET', '/readyz'))
            connection.socket.shutdown(socket.SHUT_WR)
            assert [answer.status for answer in connection.answers()] == [200, 200, 200]
