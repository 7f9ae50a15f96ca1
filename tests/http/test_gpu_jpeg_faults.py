# SPDX-License-Identifier: MIT
"""JPEG to JPEG by a fake GPU that fails, hangs or is killed: every request gets its picture all the same."""

import concurrent.futures
import os
import signal
import time

import pytest

import daemon
import fake_gpu
import wire
from fake_gpu import await_state, is_gone, served_by_the_next
from fake_jpeg import BY_GPU, MEDIUM, OTHER, PHOTO, ask, await_places, jpeg_options, launch_jpeg, places

pytestmark = fake_gpu.needed


# --- the start -----------------------------------------------------------------------------------
def test_an_old_driver(start, cpu):
    own = fake_gpu.launch(start, *jpeg_options(), MISSING='cuStreamWriteValue32')
    assert places(own) == 0
    assert own.wait_for_line(r'cuda:0: no JPEGs: this driver lacks the function cuStreamWriteValue32')
    assert ask(own, PHOTO) == ('cuda:0', ask(cpu, PHOTO)[1])


@pytest.mark.parametrize('fault', ('cuMemHostAlloc:1:0:hang', 'cuMemHostAlloc:2:719:sticky'), ids=('hang', 'sticky'))
def test_a_start_that_goes_wrong(start, cpu, fault):
    """Pictures are filtered all the while, and the end is not held up."""
    own = fake_gpu.launch(start, *jpeg_options('--workers', 1), serving=False, FAULT=fault)
    for _ in range(5):
        name, result = ask(own, PHOTO)
        assert not name.endswith('/jpeg') and result == ask(cpu, PHOTO)[1]
    assert places(own) == 0
    own.signal()
    begin = time.monotonic()
    assert own.wait() == 0 and time.monotonic() - begin < 2 * daemon.SLOW


BEGINS = ('cuMemHostAlloc', 'cuMemHostGetDevicePointer', 'cuMemAlloc')


@pytest.mark.parametrize('call', BEGINS)
def test_a_call_that_fails_at_the_start(start, cpu, call):
    """At the first GPU: the other one does it all."""
    own = fake_gpu.launch(start, *jpeg_options(), DEVICES=2, FAULT=f'{call}:1:6')
    assert daemon.eventually(lambda: places(own) == 2, 20), own.lines[-10:]
    assert own.wait_for_line(r'cuda:0: no JPEGs: .*' + call)
    name, result = ask(own, PHOTO)
    assert name == 'cuda:1/jpeg'
    assert result == ask(cpu, PHOTO)[1]


WRONG_KERNELS = ('huffman_sync', 'decode_planes', 'encode_symbols', 'encode_measure', 'redact_fill')


def by_the_cpus_codecs(own, cpu):
    """JPEGs are right without the GPU's codecs, and the GPU filters all the same."""
    assert places(own) == 0
    assert own.wait_for_line(r'warning gpu .*the self-test leaves JPEGs to the CPU\'s codecs')
    for body in (PHOTO, OTHER):
        assert ask(own, body) == ('cuda:0', ask(cpu, body)[1])


@pytest.mark.parametrize('kernel', WRONG_KERNELS)
def test_codecs_with_wrong_bytes(start, cpu, kernel):
    own = fake_gpu.launch(start, *jpeg_options(), IDLE=kernel)
    by_the_cpus_codecs(own, cpu)
    assert own.metrics()['blurd_backend_failures_total'] == 0


@pytest.mark.parametrize('kernel', WRONG_KERNELS[:3:2])
def test_codecs_that_fault(start, cpu, kernel):
    """The first engine ends in its self-test; the next one has its sandbox, too, and does not try JPEGs."""
    own = fake_gpu.launch(start, *jpeg_options(), serving=False, FAULTY=kernel)
    await_state(own, 'serving')
    by_the_cpus_codecs(own, cpu)
    assert not any('without it' in line for line in own.lines)


# --- on the way ----------------------------------------------------------------------------------
def meet(own, path, fault, cpu, target):
    """Lets the fault happen while a picture is made, which is right. Whether anything used the call."""
    path.write_text(fault)
    for body in (PHOTO, OTHER, MEDIUM):
        name, result = ask(own, body, target)
        assert result == ask(cpu, body, target)[1], f'{fault}: wrong picture from {name}'
        if not path.exists():
            return True
    path.unlink()
    return False


OUT_OF_MEMORY = 2
ON_THE_WAY = ('cuMemcpyHtoDAsync', 'cuLaunchKernel', 'cuStreamWriteValue32')


def test_a_call_without_memory_on_the_way(start, cpu, tmp_path):
    """The CPU redoes the picture, and the engine goes on."""
    path = tmp_path / 'fault'
    own = launch_jpeg(start, '--gpu-pictures', 1, wanted=1, FAULT_FILE=path)
    pid = fake_gpu.engine(own)
    met = set()
    for i, call in enumerate(ON_THE_WAY):
        if meet(own, path, f'{call}:1:{OUT_OF_MEMORY}', cpu, f'/blur?sigma=2&quality={60 + i}'):
            met.add(call)
    assert met == set(ON_THE_WAY)
    assert fake_gpu.engine(own) == pid and own.metrics()['blurd_jpeg_returned_total'] >= len(met)
    assert ask(own, PHOTO)[0] == BY_GPU


DRIVER_CALLS = ('cuLaunchKernel', 'cuMemcpyHtoDAsync', 'cuStreamWriteValue32', 'cuStreamSynchronize', 'cuMemAllocAsync')
if daemon.SANITIZED:  # every start takes seconds then
    DRIVER_CALLS = DRIVER_CALLS[::3]


@pytest.mark.parametrize('call', DRIVER_CALLS)
def test_the_driver_fails_on_the_way(start, cpu, tmp_path, call):
    """The next engine does JPEGs, too."""
    path = tmp_path / 'fault'
    own = launch_jpeg(start, '--gpu-pictures', 1, wanted=1, FAULT_FILE=path)
    pid = fake_gpu.engine(own)
    if meet(own, path, f'{call}:1:719:sticky', cpu, '/blur?sigma=2'):
        assert is_gone(own, pid), 'the engine goes on'
    else:
        assert call not in ('cuLaunchKernel', 'cuStreamWriteValue32')
    await_state(own, 'serving')
    await_places(own, 1)
    assert ask(own, PHOTO)[0] == BY_GPU


def test_a_call_that_hangs(start, cpu, tmp_path):
    """No request waits for longer than gpu_timeout, and the daemon's end does not wait for the call."""
    path = tmp_path / 'fault'
    own = launch_jpeg(start, '--gpu-timeout', f'{800 * daemon.SLOW:.0f}ms', FAULT_FILE=path)
    pid = fake_gpu.engine(own)
    path.write_text('cuLaunchKernel:1:0:hang')
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask(own, PHOTO), range(16)))
    wanted = ask(cpu, PHOTO)[1]
    for name, result in answers:
        assert result == wanted or name == BY_GPU
    assert is_gone(own, pid)
    await_places(own)
    assert ask(own, PHOTO)[0] == BY_GPU


def test_a_device_that_stops(start, cpu, tmp_path):
    """The driver says that all is well. The engine knows how long its pictures take, and waits no longer."""
    path = tmp_path / 'fault'
    own = launch_jpeg(start, FAULT_FILE=path)
    pid = fake_gpu.engine(own)
    for _ in range(40):
        assert ask(own, PHOTO)[0] == BY_GPU
    path.write_text('cuStreamWriteValue32:1:0:lost')
    begin = time.monotonic()
    assert ask(own, PHOTO)[1] == ask(cpu, PHOTO)[1]
    assert 0.1 <= time.monotonic() - begin < 5 * daemon.SLOW
    assert own.wait_for_line('the GPU has done nothing for ')
    served_by_the_next(own, pid)


# --- the engine's end ----------------------------------------------------------------------------
@pytest.mark.parametrize('number', (signal.SIGKILL, signal.SIGSTOP, signal.SIGUSR1), ids=('kill', 'stop', 'fault'))
def test_the_engine_ends_under_load(start, cpu, number):
    """SIGUSR1 lets a kernel fault; gpu_timeout detects a stopped engine. The next engine does JPEGs, too."""
    own = launch_jpeg(start, '--gpu-timeout', f'{700 * daemon.SLOW:.0f}ms')
    by_cpu, by_gpu = ask(cpu, PHOTO)[1], ask(own, PHOTO)[1]
    with fake_gpu.Load(6, lambda: ask(own, PHOTO), lambda name: by_gpu if name == BY_GPU else by_cpu) as load:
        assert daemon.eventually(lambda: load.names.count(BY_GPU) > 8)
        for _ in range(2):  # after a third end there is a pause
            pid = fake_gpu.engine(own)
            os.kill(pid, number)
            served_by_the_next(own, pid)
            await_places(own)
            asked = len(load.names)
            assert daemon.eventually(lambda: BY_GPU in load.names[asked:])
    assert own.pictures('gpu-file') >= load.names.count(BY_GPU)


def test_no_places_without_an_engine(start, cpu):
    own = launch_jpeg(start)
    fake_gpu.kill_three(own)
    assert places(own) == 0
    name, result = ask(own, PHOTO)
    assert name.startswith('cpu/') and result == ask(cpu, PHOTO)[1]


# --- the end -------------------------------------------------------------------------------------
@pytest.mark.parametrize('stopped', (False, True), ids=('runs', 'stopped'))
def test_what_is_in_flight_is_finished(start, cpu, stopped):
    own = launch_jpeg(start, '--gpu-pictures', 2, '--gpu-timeout', f'{700 * daemon.SLOW:.0f}ms', wanted=2)
    wanted = {ask(cpu, PHOTO)[1], ask(own, PHOTO)[1]}
    if stopped:
        os.kill(fake_gpu.engine(own), signal.SIGSTOP)
    connections = [own.connect(30) for _ in range(12)]
    for connection in connections:
        connection.send(wire.message('POST', '/blur?sigma=2', PHOTO))
    if stopped:
        assert daemon.eventually(lambda: own.metrics()['blurd_requests_in_flight'] == len(connections) + 1)
        own.signal()
        for connection in connections:
            answer = connection.answer()
            assert answer.status == 200 and answer.body in wanted
    else:
        for connection in connections:
            assert connection.answer().body in wanted
        own.signal()
    for connection in connections:
        connection.close()
    assert own.wait() == 0
