# SPDX-License-Identifier: MIT
"""JPEG to JPEG by a fake GPU where memory for pictures is short."""

import concurrent.futures
import functools

import numpy
import pytest

import daemon
import fake_gpu
import pictures
import wire
from fake_jpeg import PHOTO, ask, launch_jpeg

pytestmark = fake_gpu.needed


def test_memory_comes_back(start, cpu):
    own = launch_jpeg(start, '--memory', '64M')
    wanted = ask(own, PHOTO)[1]
    before = daemon.eventually(lambda: own.metrics()['blurd_slot_bytes'])
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert set(pool.map(lambda _: ask(own, PHOTO)[1], range(64))) == {wanted}
    metrics = own.metrics()
    assert own.pictures('gpu-file') == 65
    assert metrics['blurd_slot_bytes'] <= max(before, 1) * 24  # only idle slots of a usual size


@functools.lru_cache(1)
def greedy_png():
    """With it in progress, only small pictures fit into 64 MiB, by prediction."""
    return pictures.png(pictures.noise(1600, 1600, 3) % 2)


@pytest.mark.parametrize('end', (False, True), ids=('on', 'end'))
def test_who_waits_for_memory_is_called(start, end):
    """No other request comes that could wake a worker."""
    own = launch_jpeg(start, '--memory', '64M', '--workers', 1)
    waits = pictures.jpeg(pictures.photograph(1300, 1000))
    wanted = ask(own, waits)[1]
    with own.connect(60) as large, own.connect(60) as small:
        large.send(wire.message('POST', '/blur?sigma=0.1&effort=6&backend=cpu', greedy_png()))
        assert daemon.eventually(lambda: own.metrics()['blurd_slot_bytes'] > 32 << 20)  # it has begun
        small.send(wire.message('POST', '/blur?sigma=2', waits))
        assert daemon.eventually(lambda: own.metrics()['blurd_queue_depth'] == 1)
        if end:
            own.signal()
        answer = small.answer()
        assert answer.status == 200 and answer.body == wanted
        assert large.answer().status == 200
    assert not end or own.wait() == 0


def test_what_comes_back_has_all_the_memory(start, tmp_path):
    """A picture that fits only without the room for the GPU's result."""
    path = tmp_path / 'fault'
    own = launch_jpeg(start, '--memory', '64M', FAULT_FILE=path)
    body = pictures.jpeg(numpy.zeros((3450, 3450, 1), numpy.uint8))
    path.write_text('cuLaunchKernel:1:2')
    name, _ = ask(own, body, '/blur?sigma=0.1&quality=91')
    assert name == 'cuda:0' and not path.exists()
    assert own.metrics()['blurd_jpeg_returned_total'] == 1
