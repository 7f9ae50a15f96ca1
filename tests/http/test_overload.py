# SPDX-License-Identifier: MIT
"""503: a full queue and a spent memory budget refuse at once, and it passes."""

import os
import pathlib
import threading

import numpy
import pytest

import daemon
import pictures
import wire
from problems import check_late, check_problem
from test_multipart import form

SLOW = wire.message('POST', pictures.SLOW_QUERY, pictures.slow_png(1250))


def depth(server):
    return server.metrics()['blurd_queue_depth']


def is_taken(server):
    """A worker is at the first SLOW."""
    return server.metrics()['blurd_received_bytes_total'] >= len(pictures.slow_png(1250)) and depth(server) == 0


def test_full_queue(start):
    own = start('--workers', 1, '--queue', 1, '--work-timeout', '1m')
    with own.connect(60) as first, own.connect(60) as second:
        first.send(SLOW)
        assert daemon.eventually(lambda: is_taken(own))
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


def test_no_number_of_requests_is_too_many(start):
    """By default only time and memory count: 450 that wait for one worker all get their picture."""
    own = start('--workers', 1, '--queue-target', '1m', '--work-timeout', '1m')
    request = wire.message('POST', pictures.SLOW_QUERY, pictures.slow_png(48))  # together they take longer than sending them
    connections = [own.connect(60) for _ in range(450)]
    for connection in connections:
        connection.send(request)
    most = depth(own)
    assert [connection.answer().status for connection in connections] == [200] * len(connections)
    for connection in connections:
        connection.close()
    assert sum(refusals(own).values()) == 0 < most


def test_many_at_once_get_a_picture_or_503(start):
    own = start('--workers', 1, '--queue', 3, '--work-timeout', '1m')
    body, statuses = pictures.slow_png(400), []
    threads = [threading.Thread(target=lambda: statuses.append(own.post(pictures.SLOW_QUERY, body).status_code)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60 * daemon.SLOW)
    assert len(statuses) == 16 and set(statuses) <= {200, 503}
    assert statuses.count(200) >= 4


def test_bodies_may_take_a_third_of_the_memory(start):
    """Bodies count as they arrive: of three of 16 MiB that stop before their end, one is kept, and pictures
    still have memory."""
    own = start('--memory', '64MiB', '--workers', 2)
    picture = pictures.png(pictures.photograph(1700, 1500) // 64)
    large = pictures.png(pictures.photograph(900, 800))
    assert own.post('/blur', picture).status_code == 200
    part = wire.message('POST', '/blur', headers=[f'Content-Length: {16 << 20}'], length=False) + bytes(15 << 20)
    before = own.metrics()['blurd_received_bytes_total']
    holders = [own.connect(30) for _ in range(3)]
    for holder in holders:
        holder.send(part)
    assert daemon.eventually(lambda: own.metrics()['blurd_received_bytes_total'] - before >= 3 * (15 << 20))
    answer = own.post('/blur', large * 4)
    check_problem(answer, 'overloaded', says='memory for request bodies')
    assert answer.headers['Retry-After'] == '1'
    assert own.post('/blur', picture).status_code == 200
    for holder in holders:
        holder.close()
    assert daemon.eventually(lambda: own.post('/blur', large * 4).status_code == 200)
    assert refusals(own)['memory'] == own.metrics()['blurd_rejections_total{reason="overloaded"}'] >= 1


def refusals(own):
    """reason -> count"""
    return {name[14:-6]: count for name, count in own.metrics().items() if name.startswith('blurd_refused_')}


def computed(own, kind):
    """Seconds that the threads of that name have computed."""
    tasks = pathlib.Path(f'/proc/{own.process.pid}/task')
    stats = [(task / 'stat').read_text() for task in tasks.iterdir() if (task / 'comm').read_text().strip() == kind]
    ticks = sum(int(number) for stat in stats for number in stat.rpartition(')')[2].split()[11:13])
    return ticks / os.sysconf('SC_CLK_TCK')


@pytest.mark.parametrize('hidden', ['picture', 'filter'])
def test_a_form_waits_with_what_takes_as_long(start, hidden):
    """Its beginning promises little work, and the picture or the filter behind it takes long. That work is done by a thread of
    lower priority, as if it had been announced."""
    own = start('--workers', 2, '--gpus', 'none', '--work-timeout', '1m')
    small, large = pictures.small_png(), pictures.slow_png(600 if hidden == 'picture' else 1200)
    assert {own.post('/blur', small).status_code for _ in range(60)} == {200}
    if hidden == 'filter':
        target, body = '/pipeline', form(('ops', '|'.join(['median:radius=25'] * 4)), ('image"; filename="p', large))
    else:
        target, body = pictures.SLOW_QUERY, small[:40] + b'\r\n' + form(('image"; filename="p', large))
    before = computed(own, 'blurd-worker')
    answer = own.post(target, body, headers={'Content-Type': 'multipart/form-data; boundary=simple'})
    assert answer.status_code == 200, answer.text
    general, dedicated = computed(own, 'blurd-worker') - before, computed(own, 'blurd-large')
    assert dedicated > 0.2 and dedicated > 4 * general, (general, dedicated)


def test_other_status(start):
    own = start('--workers', 1, '--queue', 1, '--work-timeout', '1m', '--overload-status', 429)
    with own.connect(60) as first, own.connect(60) as second:
        first.send(SLOW)
        assert daemon.eventually(lambda: is_taken(own))
        second.send(SLOW)
        assert daemon.eventually(lambda: depth(own) == 1)
        answer = own.post('/blur', pictures.small_png())
        check_problem(answer, 'too-many-requests', says='waiting')
        assert int(answer.headers['Retry-After']) >= 1
        assert {first.answer().status, second.answer().status} == {200}
    assert own.metrics()['blurd_rejections_total{reason="too-many-requests"}'] == 1
    assert refusals(own)['queue'] == 1 == sum(refusals(own).values())


def test_more_work_than_can_be_done(start):
    """Under a standing queue, requests that would wait too long are refused before their body is kept. That
    ends with the queue."""
    own = start('--workers', 1, '--queue-target', '1ms', '--queue-interval', '1ms')
    body = pictures.slow_png(250)
    statuses, quick, lock, ending = [], [], threading.Lock(), threading.Event()

    def ask():
        while not ending.is_set():
            answer = own.post(pictures.SLOW_QUERY, body)
            with lock:
                statuses.append(answer.status_code)
                if answer.status_code == 503:
                    check_problem(answer, 'overloaded', says='more work than can be done')
                    assert 1 <= int(answer.headers['Retry-After']) <= 60
                    quick.append(answer.elapsed.total_seconds())

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    assert daemon.eventually(lambda: len(quick) >= 20, 20)
    ending.set()
    for thread in threads:
        thread.join(60 * daemon.SLOW)
    assert set(statuses) == {200, 503}
    found = refusals(own)
    assert sum(found.values()) == statuses.count(503) and found['standing'] >= 1, found
    assert daemon.eventually(lambda: own.post('/blur', pictures.small_png()).status_code == 200
                             and own.metrics()['blurd_queue_standing'] == 0)


def test_small_ones_do_not_wait_for_large_ones(start):
    own = start('--workers', 1, '--work-timeout', '1m')
    with own.connect(60) as first, own.connect(60) as second:
        for connection in (first, second):
            connection.send(wire.message('POST', pictures.SLOW_QUERY, pictures.slow_png(1250)))
        assert daemon.eventually(lambda: depth(own) == 1)
        assert own.post('/blur', pictures.small_png()).status_code == 200
        assert depth(own) == 1, 'the second large one waits for the first'
        assert {first.answer().status, second.answer().status} == {200}


def test_a_large_one_begins_when_there_is_memory(start):
    """It waits only for the memory of small ones: the end of the last of them wakes it."""
    own = start('--workers', 1, '--memory', '64MiB', '--queue-target', '1m', '--gpus', 'none')
    small, large = (pictures.png(numpy.zeros((side, side, 3), numpy.uint8)) for side in (1200, 1250))
    waited = 0
    for count in (8, 32, 32, 32, 32): # 128 bodies would take the memory for bodies
        connections = [own.connect(60) for _ in range(count)]
        for connection in connections:
            connection.send(wire.message('POST', '/blur?sigma=1', small))
        with own.connect() as last:
            last.send(wire.message('POST', '/blur?effort=9', large))
            answer = last.answer()
        assert answer.status == 200
        assert [connection.answer().status for connection in connections] == [200] * count
        for connection in connections:
            connection.close()
        waited = float(answer.header('Server-Timing').partition('queue;dur=')[2].partition(',')[0])
        if waited > 10:
            break
    assert waited > 10, 'there always was memory'


def test_icons_say_nothing_of_large_pictures(start):
    """Hundreds of 76 bytes, then 8 megapixels of the same kind: an idle daemon refuses none of them."""
    own = start('--workers', 1, '--work-timeout', f'{4000 * daemon.SLOW:.0f}ms')
    icon, large = pictures.png(numpy.zeros((16, 16, 3), numpy.uint8)), pictures.png(numpy.zeros((2304, 3456, 3), numpy.uint8))
    with own.connect(60) as connection:
        for _ in range(100):
            connection.send(wire.message('POST', '/blur', icon))
            assert connection.answer().status == 200
    connections = [own.connect(60) for _ in range(4)]
    for connection in connections:
        connection.send(wire.message('POST', '/blur', large))
    assert [connection.answer().status for connection in connections] == [200] * 4
    for connection in connections:
        connection.close()


def test_redaction_looks_at_the_deadline(start):
    """64 regions that each cover the picture: seconds, of which few are allowed."""
    own = start('--workers', 1, '--work-timeout', '300ms')
    regions = '&'.join(['region=0,0,100%25,100%25'] * 64)
    picture = pictures.jpeg(pictures.photograph(500, 375).repeat(12, 0).repeat(12, 1), 50)
    answer = check_late(lambda: own.post(f'/blur?sigma=1&mode=redact&{regions}', picture))
    assert answer.elapsed.total_seconds() < 1.5 * daemon.SLOW


def test_a_picture_larger_than_the_whole_budget(start):
    own = start('--memory', '64MiB')
    answer = own.post('/blur', pictures.png(pictures.photograph(4000, 3000, 1).repeat(3, 2) // 128))
    check_problem(answer, 'limit-exceeded', says='option memory')
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
