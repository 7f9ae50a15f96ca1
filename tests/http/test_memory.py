# SPDX-License-Identifier: MIT
"""The memory of a picture: the prediction when it is queued, the count against `memory`, and the resident
size."""

import concurrent.futures
import contextlib
import functools

import daemon
import numpy
import pictures
import pytest
import requests
import wire

WIDTH, HEIGHT = 2560, 1600
MIB = 1 << 20
UNCOUNTED = 4  # MiB: stacks, tables, the heap's own; a second picture of the smallest kind here has 6
MISTAKE = 9  # MiB between prediction and count: helpers that wait get memory, too
PIPELINE = '|'.join(['blur:sigma=5'] * 8)
REGION = 'region=10%25,10%25,50%25,50%25'


@functools.cache
def photograph():
    return pictures.photograph(WIDTH // 8, HEIGHT // 8).repeat(8, 0).repeat(8, 1)


def with_alpha(samples):
    return numpy.dstack([samples, samples[:, :, 0]])


BODIES = {
    'jpeg': lambda: pictures.jpeg(photograph(), 85, '420'),
    'progressive': lambda: pictures.jpeg(photograph(), 85, '420', progressive=True),
    'cmyk': lambda: pictures.jpeg(with_alpha(photograph()), 85, progressive=True),
    'noise': lambda: pictures.jpeg(pictures.noise(WIDTH, HEIGHT), 98, '444'),
    'png': lambda: pictures.png(photograph()),
    'gray': lambda: pictures.png(photograph()[:, :, :1]),
    'rgba': lambda: pictures.png(with_alpha(photograph())),
    'interlaced': lambda: pictures.png(photograph(), interlaced=True),
    'rgba16': lambda: pictures.png(with_alpha(photograph()).astype(numpy.uint16) * 257, depth=16),
    'turned': lambda: pictures.with_segments(BODIES['jpeg'](), pictures.exif_segment(6)),
    'exif': lambda: pictures.png(photograph(), before=[('eXIf', pictures.exif(1) + bytes(12 * MIB))]),
    'metadata': lambda: pictures.with_segments(BODIES['jpeg'](), *[(0xFE, b'c' * 65000)] * 20),
}

KINDS = (
    ('jpeg', '/blur?sigma=5'),
    ('jpeg', '/blur?sigma=500&edge=mirror'),
    ('jpeg', f'/pipeline?ops={PIPELINE}'),
    ('jpeg', '/blur?sigma=5&progressive=true'),
    ('jpeg', '/blur?sigma=5&format=png&effort=9'),
    ('jpeg', f'/blur?sigma=5&{REGION}'),
    ('jpeg', f'/blur?sigma=5&feather=40&{REGION}'),
    ('jpeg', f'/blur?sigma=5&mode=redact&{REGION}'),
    ('turned', '/blur?sigma=5&mode=redact&region=0,2000,800,400&quality=85'),  # off the picture as it is stored
    ('jpeg', '/blur?sigma=5&colorspace=linear'),
    ('jpeg', '/sharpen'),
    ('jpeg', '/stats'),
    ('jpeg', '/placeholder'),
    ('jpeg', '/pixelate'),
    ('jpeg', '/convolve?preset=edge'),
    ('jpeg', '/crop?width=25%25'),
    ('jpeg', '/rotate'),
    ('jpeg', '/rotate?lossless=true'),
    ('noise', '/crop?x=16&width=1600&lossless=true'),
    ('progressive', '/rotate?lossless=true&progressive=true'),
    ('rgba16', '/pipeline?ops=blur:sigma=5|rotate|crop:height=50%25|blur:sigma=5'),
    ('turned', f'/rotate?mode=redact&{REGION}'),
    ('progressive', '/blur?sigma=5'),
    ('progressive', f'/blur?sigma=5&progressive=true&{REGION}'),
    ('cmyk', '/blur?sigma=5'),
    ('noise', '/blur?sigma=0.1&quality=100&subsampling=444'),
    ('png', '/blur?sigma=5'),
    ('png', '/blur?sigma=5&format=jpeg&progressive=true'),
    ('interlaced', '/blur?sigma=5'),
    ('gray', '/blur?sigma=5'),
    ('rgba', '/blur?sigma=5&format=jpeg'),
    ('rgba', f'/pipeline?ops=blur:sigma=5|blur:sigma=5&format=jpeg'),
    ('rgba', '/sharpen'),
    ('rgba16', '/blur?sigma=5'),
    ('rgba16', '/placeholder?colorspace=linear'),
    ('rgba16', f'/pipeline?ops=sharpen|blur:sigma=5&format=jpeg&colorspace=linear'),
    ('metadata', '/blur?sigma=5&metadata=keep'),
    ('metadata', '/blur?sigma=5&metadata=keep&format=png'),
    ('exif', '/blur?sigma=5'),
    ('exif', '/blur?sigma=5&metadata=keep'),
)


@functools.cache
def body_of(name):
    return BODIES[name]()


def ask(body, target):
    """MiB that were predicted, the body included, that were counted, and that the process has grown at most."""
    with daemon.Daemon('--gpus', 'none', '--workers', 2, '--log-level', 'debug', '--memory', '4GiB', '--max-body', '64MiB') as own:
        assert own.post('/blur?sigma=1', pictures.small_jpeg()).status_code == 200
        before = own.status('VmRSS')
        answer = own.post(target, body, headers={'X-Request-Id': 'measured'})
        assert answer.status_code == 200, answer.text
        grown = (own.status('VmHWM') - before) * 1024 / MIB
        line = own.wait_for_line(r'measured: predicted (\d+) bytes.*took (\d+)')
    predicted, counted = (int(number) / MIB for number in line.groups())
    return predicted + len(body) / MIB, counted, grown


@pytest.mark.skipif(daemon.SANITIZED, reason='sanitizers take memory of their own')
@pytest.mark.parametrize('picture, target', KINDS)
def test_all_that_a_picture_takes_is_counted_and_predicted(picture, target):
    predicted, counted, grown = ask(body_of(picture), target)
    figures = f'predicted {predicted:.1f} MiB, counted {counted:.1f}, grown by {grown:.1f}'
    assert grown <= counted + UNCOUNTED, figures
    assert abs(predicted - counted) <= MISTAKE, figures
    assert counted <= 3 * grown + 16, figures  # generous, not absurd


@pytest.mark.skipif(daemon.SANITIZED, reason='sanitizers take memory of their own')
@pytest.mark.parametrize('picture, target', (('rgba', '/blur?sigma=5'), ('rgba', f'/pixelate?mode=redact&{REGION}'), ('gray', '/rotate')))
def test_pngs_come_in_memory_that_is_there(picture, target):
    """Rows by the heap were mapped anew for each request, at a page fault for every 4 KiB."""
    with daemon.Daemon('--gpus', 'none', '--workers', 1) as own:
        faults = []
        for _ in range(6):
            before = own.page_faults()
            assert own.post(target, body_of(picture)).status_code == 200
            faults.append(own.page_faults() - before)
        assert min(faults[2:]) < WIDTH * HEIGHT / 4096 / 4, faults


def at_once(own, count, body):
    """The statuses of so many requests that come at the same time."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return {asked.result().status_code for asked in [pool.submit(own.post, '/blur?sigma=5', body) for _ in range(count)]}


def test_clients_that_trickle_hold_what_they_have_sent():
    slow, announced = 9, 4 << 20
    with daemon.Daemon('--gpus', 'none', '--workers', 1, '--memory', '128MiB') as own:
        assert at_once(own, slow, body_of('jpeg')) == {200}  # so many slots have seen a picture
        head = f'POST /blur HTTP/1.1\r\nHost: x\r\nContent-Length: {announced}\r\n\r\n'.encode()
        with contextlib.ExitStack() as stack:
            for _ in range(slow):
                connection = stack.enter_context(own.connect())
                connection.send(head + b'\xFF\xD8\xFF' + bytes(2000))
            daemon.eventually(lambda: own.metrics()['blurd_requests_in_flight'] >= slow)
            assert at_once(own, 1, body_of('png')) == {200}
            assert at_once(own, 4, body_of('jpeg')) == {200}


@pytest.mark.skipif(daemon.SANITIZED, reason='sanitizers take memory of their own')
def test_what_is_idle_goes_back_to_the_system():
    with daemon.Daemon('--gpus', 'none', '--workers', 2) as own:
        assert own.post('/blur?sigma=1', pictures.small_jpeg()).status_code == 200
        before = own.status('VmRSS')
        assert at_once(own, 16, body_of('jpeg')) == {200}
        assert own.metrics()['blurd_slot_bytes'] > 16 * MIB  # kept for the next requests
        assert daemon.eventually(lambda: own.metrics()['blurd_slot_bytes'] == 0 and own.status('VmRSS') < before + 4096), own.status('VmRSS')


def test_answers_are_given_back():
    """After answers of each kind no more is held than after the first ones, and together they are more than `memory`."""
    large = pictures.jpeg(pictures.noise(1000, 1000), 50)
    kinds = [('/blur?sigma=0.1&format=png&effort=0', large, 200), ('/blur', pictures.small_jpeg(), 200), ('/stats', pictures.small_png(), 200),
             ('/pixelate?mode=redact&region=1,1,8,8', pictures.small_jpeg(), 200), ('/blur', pictures.small_png()[:-40], 400), ('/blur?sigma=0', large, 400)]
    with daemon.Daemon('--gpus', 'none', '--workers', 1, '--memory', '64MiB') as own:
        with requests.Session() as session:
            def ask(kind):
                target, body, status = kind
                answer = session.post(own.url(target), data=body, timeout=60 * daemon.SLOW)
                assert answer.status_code == status, answer.text
                return len(answer.content)

            for kind in kinds:
                ask(kind)
            before, answered = own.metrics()['blurd_slot_bytes'], 0
            while answered < 80 * MIB:
                answered += sum(ask(kind) for kind in (kinds[0], *kinds))
            with own.connect() as leaving:  # before it has read much
                leaving.send(wire.message('POST', kinds[0][0], large))
                assert leaving.socket.recv(1)
            assert daemon.eventually(lambda: own.metrics()['blurd_requests_in_flight'] == 1)
            assert daemon.eventually(lambda: own.metrics()['blurd_slot_bytes'] <= before)  # the last bodies may just be leaving
