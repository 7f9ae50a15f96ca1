# SPDX-License-Identifier: MIT
"""What one request may take of `memory`: less than that is served, more than that is refused for good, whatever the
size. A request that takes much does not make others wait."""

import functools
import re
import struct
import threading
import time

import numpy
import pytest

import daemon
import foreign
import heif
import pictures
import wire
from problems import check_problem
from test_multipart import form

MIB = 1 << 20
MEMORY = 64
MOST, BODY_MOST = MEMORY * 3 // 4, MEMORY // 4
STEPS = 8  # sizes from half of the limit to twice the limit
MEDIANS = '/pipeline?ops=' + '|'.join(['median:radius=25'] * 8) + '&format=png'
LINEAR = '/blur?sigma=1&colorspace=linear'
KINDS = {'png': '/blur?sigma=1', 'jpeg': '/blur?sigma=1', 'rgba': '/blur?sigma=1&format=jpeg', 'linear': LINEAR,
         **{kind: '/blur?sigma=1&format=png' for kind in ('webp', 'avif', 'heic')}}
TILE = 512


@functools.lru_cache
def tile(kind):
    return heif.coded(kind, numpy.full((TILE, TILE, 3), 77, numpy.uint8))


def tiled(kind, side):
    """A grid of one tile, as phones write them, with an even side. To encode all of it would take seconds."""
    count, side = -(-side // TILE), side + side % 2
    file = heif.File(kind)
    grid = file.add(b'grid', struct.pack('>BBBBHH', 0, 0, count - 1, count - 1, side, side), heif.ispe(side, side))
    file.refer(b'dimg', grid, *(file.picture(tile(kind), TILE, TILE) for _ in range(count ** 2)))
    return file.write()


def flat(kind, side):
    if kind in heif.TYPES:
        return tiled(kind, side)
    samples = numpy.full((side, side, 4 if kind == 'rgba' else 3), 77, numpy.uint8)
    return pictures.jpeg(samples, 50, '420') if kind in ('jpeg', 'linear') else foreign.write('webp', samples) if kind == 'webp' else pictures.png(samples)


def needed(answer):
    """MiB that the answer, a 422, says."""
    check_problem(answer, 'limit-exceeded', says=f'more than the {MOST} MiB that one request may take')
    return int(re.search(r'needs (\d+) MiB', answer.json()['detail']).group(1))


def side_for(own, target, kind, mib):
    """The side of a picture that needs so many MiB. Two that are refused tell what all need, and what each pixel needs."""
    few, many = (needed(own.post(target, flat(kind, side))) for side in (3000, 4000))
    return int((3000 ** 2 + (mib - few) * (4000 ** 2 - 3000 ** 2) / (many - few)) ** 0.5)


@pytest.mark.parametrize('kind', KINDS)
def test_a_picture_is_served_or_refused_for_good(start, kind):
    own = start('--memory', f'{MEMORY}MiB', '--workers', 2, '--gpus', 'none')
    if kind not in (*own.get('/version').json()['formats']['reads'], 'rgba', 'linear'):
        pytest.skip(f'this build does not read {kind}')
    pixels = 4000 ** 2 * MOST / needed(own.post(KINDS[kind], flat(kind, 4000)))
    statuses = []
    for step in range(STEPS + 1):
        side = round((pixels * 2 ** (2 * step / STEPS - 1)) ** 0.5)
        answer = own.post(KINDS[kind], flat(kind, side))
        statuses.append(answer.status_code)
        if answer.status_code != 200:
            assert needed(answer) > MOST
    assert set(statuses) == {200, 422} and statuses[0] == 200 and statuses[-1] == 422, statuses
    assert kind == 'png' or statuses == sorted(statuses), f'small PNGs take more for each pixel, others do not: {statuses}'


@pytest.mark.parametrize('chunked', (False, True))
def test_a_body_is_taken_or_refused_for_good(start, chunked):
    """Around a quarter of the memory, around a third, and above the memory."""
    own = start('--memory', f'{MEMORY}MiB', '--max-body', '60MiB', '--workers', 1, '--gpus', 'none')
    for size in (BODY_MOST * MIB - 1, BODY_MOST * MIB, BODY_MOST * MIB + 1, MEMORY * MIB // 3 - 4096, MEMORY * MIB // 3 + 4096, 30 * MIB, 50 * MIB):
        body = pictures.small_jpeg().ljust(size, b'\0')
        message = (wire.message('POST', '/blur', wire.chunked(body), ['Transfer-Encoding: chunked'], length=False) if chunked
                   else wire.message('POST', '/blur', body))
        with own.connect(60) as connection:
            connection.send(message)
            answer = connection.answer()
        if size <= BODY_MOST * MIB:
            assert answer.status == 200, (size, answer.body)
        else:
            check_problem(answer, 'body-too-large', says=f'larger than the limit of {BODY_MOST * MIB} bytes, which is a quarter of the option memory')


def test_small_pictures_do_not_wait_for_the_memory_of_large_ones(start):
    """One client sends pictures that take all that a request may take, and seconds; another one sends small ones."""
    own = start('--memory', f'{MEMORY}MiB', '--workers', 2, '--gpus', 'none', '--work-timeout', '2s')
    large, small = flat('rgba', side_for(own, MEDIANS, 'rgba', MOST * 0.95)), pictures.small_jpeg()
    statuses, ending = [], threading.Event()

    def attack():
        while not ending.is_set():
            statuses.append(own.post(MEDIANS, large).status_code)

    attacker = threading.Thread(target=attack)
    attacker.start()
    until, asked = time.monotonic() + 5, 0
    while time.monotonic() < until:
        answer = own.post('/blur', small)
        assert answer.status_code == 200, answer.text
        assert answer.elapsed.total_seconds() < 1 * daemon.SLOW
        asked += 1
    ending.set()
    attacker.join()
    assert asked >= 5 and len(statuses) >= 1 and set(statuses) <= {200, 422, 503}, statuses


def test_a_form_that_deceives_gets_no_more(start):
    """Time and memory are predicted by the header of a tiny picture that comes first. Of two pictures that together take more than
    jobs may have, one waits for the other, though threads are free."""
    own = start('--memory', f'{MEMORY}MiB', '--workers', 2, '--gpus', 'none', '--work-timeout', f'{60 * daemon.SLOW:g}s')

    def ask(target, mib):
        picture = flat('rgba', side_for(own, target, 'rgba', mib))
        body = pictures.small_png()[:40] + b'\r\n' + form(('image"; filename="p', picture))
        return lambda: own.post(target, body, headers={'Content-Type': 'multipart/form-data; boundary=simple'})

    ways = [ask(MEDIANS, share * MOST) for share in (0.95, 0.6)]
    assert [way().status_code for way in ways] == [200, 200]
    statuses, ending = [], threading.Event()

    def attack(way):
        while not ending.is_set():
            statuses.append(way().status_code)

    attackers = [threading.Thread(target=attack, args=(way,)) for way in ways]
    for attacker in attackers:
        attacker.start()
    waited = daemon.eventually(lambda: own.metrics()['blurd_queue_depth'] == 1, 20)
    assert own.post('/blur', pictures.small_jpeg()).status_code == 200
    ending.set()
    for attacker in attackers:
        attacker.join()
    assert waited and set(statuses) == {200}, statuses


def test_a_large_picture_waits_for_the_memory_of_bodies(start):
    """It begins when clients that stand still have left, without any other request."""
    own = start('--memory', f'{MEMORY}MiB', '--workers', 1, '--gpus', 'none', '--work-timeout', '1m')
    side = int((3000 ** 2 * MOST / needed(own.post(LINEAR, flat('linear', 3000)))) ** 0.5 * 0.98)
    part = wire.message('POST', '/blur', headers=[f'Content-Length: {14 * MIB}'], length=False) + bytes(13 * MIB)
    with own.connect(60) as waiting:
        with own.connect(60) as holder:
            holder.send(part)
            assert daemon.eventually(lambda: own.metrics()['blurd_received_bytes_total'] >= 13 * MIB)
            waiting.send(wire.message('POST', LINEAR, flat('linear', side)))
            assert daemon.eventually(lambda: own.metrics()['blurd_queue_depth'] == 1)
            time.sleep(0.2)
            assert own.metrics()['blurd_queue_depth'] == 1
            assert own.post('/blur', pictures.small_png()).status_code == 200
        assert waiting.answer().status == 200
