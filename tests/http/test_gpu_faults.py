# SPDX-License-Identifier: MIT
"""With any fault of the driver or the engine process, every request gets its picture."""

import concurrent.futures
import os
import pathlib
import random
import re
import signal
import time

import pytest

import daemon
import fake_gpu
from fake_gpu import HUGE, LARGE, MEDIUM, SMALL, ask, await_state, backend, launch, served_by_the_next

pytestmark = fake_gpu.needed
DRIVER = re.findall(r'^CUDA_\w+\((\w+)\)', (daemon.ROOT / 'gpu/cuda/driver.def').read_text(), re.M)
OUT_OF_MEMORY = 2
STICKY = (214, 700, 702, 716, 718, 719, 999)
PAIRS = ((1, 700), (201, 702), (214, 716), (400, 718), (600, 719))  # three ends would be too many
LAST_PAIR = (999, OUT_OF_MEMORY)
STARTING = [call for call in DRIVER if not call.startswith('cuGetError')]
# Calls that only the start uses, and calls whose failure has no effect.
NOT_SERVING = ('cuDriverGetVersion', 'cuInit', 'cuMemGetInfo', 'cuGetErrorName', 'cuGetErrorString', 'cuDeviceGetCount', 'cuDeviceGet',
               'cuDeviceGetName', 'cuDeviceGetAttribute', 'cuDevicePrimaryCtxRetain', 'cuDevicePrimaryCtxRelease',
               'cuDevicePrimaryCtxSetFlags', 'cuModuleLoadData', 'cuModuleLoadDataEx', 'cuModuleUnload',
               'cuModuleGetFunction', 'cuFuncSetAttribute', 'cuDeviceGetDefaultMemPool', 'cuMemPoolSetAttribute')
SERVING = [call for call in DRIVER if call not in NOT_SERVING]
# Each call gets the last pair and one of the others, in turn: what a code means does not depend on the call, as
# tests/unit/gpu/cuda/test_driver.c tests of all codes. With FAULTS=all each call gets all pairs.
FAULTS = [(call, codes) for number, call in enumerate(SERVING)
          for codes in ((*PAIRS, LAST_PAIR) if os.environ.get('FAULTS') == 'all' else (PAIRS[number % len(PAIRS)], LAST_PAIR))]
if daemon.SANITIZED:  # every start tests itself with all filters, which takes seconds then: a third of the calls
    FAULTS = [(call, codes) for call, codes in FAULTS if call in SERVING[::3]]
    STARTING = STARTING[1::3]
MUST_BE_MET = ('cuCtxSetCurrent', 'cuLaunchKernel', 'cuMemAllocAsync', 'cuMemHostRegister', 'cuStreamCreate', 'cuStreamWriteValue32')


@pytest.fixture(scope='module')
def reference():
    made = fake_gpu.Reference()
    yield made
    made.stop()


# --- each call, each code ------------------------------------------------------------------
def quiet_engine(own):
    """Waits until the thread that served the self-test has ended, and returns the pid. One registers slots, one is the guard."""
    pid = fake_gpu.engine(own)
    assert daemon.eventually(lambda: fake_gpu.threads(pid) == 3)
    return pid


def meet(own, reference, path, fault):
    """Lets the fault happen; the answers are right. Returns whether anything used the call."""
    path.write_text(fault)
    for body in (SMALL, LARGE, HUGE):  # each needs new buffers, and the old ones are freed
        name, result = ask(own, body)
        assert result == reference(body), f'{fault}: wrong pixels from {name}'
        if not path.exists():
            return True
    path.unlink()
    return False


@pytest.fixture(scope='module')
def used(tmp_path_factory):
    """The calls that the driver gets for the pictures of meet()."""
    path = tmp_path_factory.mktemp('calls') / 'calls'
    options = fake_gpu.options('--workers', 1, '--sandbox', 'off', '--gpu-timeout', '60s')
    with daemon.Daemon(*options, environment=fake_gpu.settings(CALLS_FILE=path)) as own:
        await_state(own, 'serving')
        quiet_engine(own)
        path.touch()
        for body in (SMALL, LARGE, HUGE):
            assert ask(own, body)[0] == 'cuda:0'
        found = set(path.read_text().split())
    assert found.issuperset(MUST_BE_MET)
    return found


WAITS_FOR_ALL = {'cuMemFree', 'cuMemFreeHost', 'cuModuleUnload'}  # for the kernels of every stream


def test_growing_memory_waits_for_nobody(used):
    assert not WAITS_FOR_ALL & used


@pytest.mark.parametrize('call, codes', FAULTS, ids=str)
def test_a_call_that_fails(start, reference, used, tmp_path, call, codes):
    if call not in used:
        pytest.skip('not used while serving')
    path = tmp_path / 'fault'
    own = launch(start, '--workers', 1, FAULT_FILE=path)
    for code in codes[-1:] if daemon.SANITIZED else codes:  # an engine's start takes seconds there
        pid = quiet_engine(own)
        failures = own.metrics()['blurd_backend_failures_total']
        if not meet(own, reference, path, f'{call}:1:{code}' + (':sticky' if code in STICKY else '')):
            assert call not in MUST_BE_MET
            pytest.skip('not used this time')
        if code == OUT_OF_MEMORY:
            assert ask(own) == ('cuda:0', reference())
            assert fake_gpu.engine(own) == pid, 'want of memory ended the engine'
        else:
            if own.metrics()['blurd_backend_failures_total'] == failures:
                os.kill(pid, signal.SIGKILL)  # it went on; a fresh one uses every call again
            served_by_the_next(own, pid)
    assert ask(own) == ('cuda:0', reference())


@pytest.mark.parametrize('call', STARTING)
def test_a_call_that_fails_at_the_start(start, reference, call):
    # PTX is in every build, and machine code for the GPUs of the machine that built it. Without both, only NVRTC would
    # remain, which takes a minute on a busy machine: see test_program.c.
    own = launch(start, '--module-format', 'ptx', serving=False, FAULT=f'{call}:1:999:sticky')
    assert ask(own)[1] == reference()
    assert daemon.eventually(lambda: backend(own)['state'] != 'starting')
    time.sleep(0.1)
    assert ask(own)[1] == reference()
    entry = backend(own)
    says = '999', 'the engine ended'  # the latter when it was serving already
    assert entry['state'] == 'serving' or any(text in entry['reason'] for text in says), entry
    if 'Module' in call or call in MUST_BE_MET:
        assert entry['state'] != 'serving' or call in ('cuModuleUnload', 'cuMemHostRegister')


@pytest.mark.parametrize('call', ('cuLaunchKernel', 'cuStreamCreate'))
def test_no_storm_of_starts(start, reference, call):
    """An engine that fails whenever it starts is tried three times, and then once a minute."""
    own = launch(start, serving=False, FAULT=f'{call}:1:719:sticky')

    def failures():  # an engine lives for a few milliseconds: the log has seen it
        return sum(' gpu ' in line and 'made for a test' in line and 'unregistered' not in line for line in own.lines)
    assert daemon.eventually(failures)
    time.sleep(2 * daemon.SLOW)  # for more than three to come, if they did
    assert 1 <= failures() <= 3, f'{failures()} engines'
    assert backend(own)['state'] == 'down' and ask(own)[1] == reference()


def test_a_gpu_that_is_full_at_the_start(start, reference, tmp_path):
    """It serves some seconds after it has memory, and not a minute later."""
    path = tmp_path / 'fault'
    path.write_text('cuDevicePrimaryCtxRetain:1:2')
    begin = time.monotonic()
    own = launch(start, serving=False, FAULT_FILE=path)
    assert 'cuDevicePrimaryCtxRetain' in fake_gpu.await_state(own, 'down')
    assert ask(own)[1] == reference()
    fake_gpu.await_state(own, 'serving')
    assert 3.5 < time.monotonic() - begin < 15 * daemon.SLOW  # the self-test takes a while on the host
    assert ask(own) == ('cuda:0', reference())


def test_a_gpu_without_memory(start, reference):
    """Pictures that fit are done there, others by the CPU, and no process is restarted."""
    own = launch(start, '--workers', 1, MEMORY=8 << 20)
    pid = fake_gpu.engine(own)
    assert ask(own) == ('cuda:0', reference())
    name, result = ask(own, HUGE, 'sigma=0.5')
    assert name.startswith('cpu/') and result == reference(HUGE, 'sigma=0.5')
    assert ask(own) == ('cuda:0', reference())
    assert fake_gpu.engine(own) == pid


def test_slots_are_registered_without_codecs(start, reference):
    """With JPEGs on the CPU no thread opens streams for them. Copies from memory that is not registered are slow, and
    block their thread when the GPU faults."""
    own = launch(start, '--jpeg-codec', 'cpu', '--log-level', 'debug')
    assert ask(own) == ('cuda:0', reference())
    assert own.wait_for_line(r'a slot of \d+ MiB (is registered|stays unregistered)')
    assert not any('stays unregistered' in line for line in own.lines)


# --- calls that never return -----------------------------------------------------------------
@pytest.mark.parametrize('call', ('cuLaunchKernel', 'cuMemcpyDtoHAsync', 'cuStreamCreate'))
def test_a_call_that_hangs(start, reference, tmp_path, call):
    path = tmp_path / 'fault'
    own = launch(start, '--workers', 2, '--gpu-timeout', '300ms', FAULT_FILE=path)
    pid = quiet_engine(own)
    begin = time.monotonic()
    assert meet(own, reference, path, f'{call}:1:0:hang')
    assert 0.3 <= time.monotonic() - begin < 1.2 * daemon.SLOW
    served_by_the_next(own, pid)
    assert ask(own) == ('cuda:0', reference())


def expect_given_up(start, reference, tmp_path, fault, least, words):
    """The engine knows how long its runs take. It meets the fault, ends after at least so many seconds and long before the
    request's time is over, and says why. The CPU answers, and the next engine works."""
    path = tmp_path / 'fault'
    own = launch(start, '--workers', 2, '--gpu-timeout', '60s', FAULT_FILE=path)
    pid = quiet_engine(own)
    for _ in range(40):
        assert ask(own) == ('cuda:0', reference())
    path.write_text(fault)
    begin = time.monotonic()
    name, result = ask(own)
    assert least <= time.monotonic() - begin < 5 * daemon.SLOW
    assert name.startswith('cpu/') and result == reference()
    assert own.wait_for_line(words)
    served_by_the_next(own, pid)
    assert ask(own) == ('cuda:0', reference())


def test_a_device_that_stops(start, reference, tmp_path):
    """The driver says that all is well."""
    expect_given_up(start, reference, tmp_path, 'cuStreamWriteValue32:1:0:lost', 0.1, 'the GPU has done nothing for ')


@pytest.mark.parametrize('call', ('cuLaunchKernel', 'cuMemcpyDtoHAsync'))
def test_a_driver_that_does_not_return(start, reference, tmp_path, call):
    """After a fault the driver keeps threads that hand over work for a second or two: the engine ends before."""
    expect_given_up(start, reference, tmp_path, f'{call}:1:0:hang', 0.2, 'and its driver does not return')


def test_an_engine_that_is_stopped(start, reference):
    """Its sockets take only a few messages; no request may wait for that for long."""
    own = launch(start, '--workers', 24, '--gpu-timeout', '500ms')
    pid = fake_gpu.engine(own)
    os.kill(pid, signal.SIGSTOP)
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(lambda _: ask(own)[1], range(48)))
    assert time.monotonic() - begin < 4 * daemon.SLOW
    assert answers == [reference()] * 48
    served_by_the_next(own, pid)


def slot_files(own):
    """Numbers of the files in memory that are the daemon's slots."""
    return set(re.findall(r' (\d+) +/memfd:blurd-slot', pathlib.Path(f'/proc/{own.process.pid}/maps').read_text()))


def test_a_lost_engine_keeps_no_slot(start, reference):
    """It may write to the memory of its runs until it is gone, while the CPU does them again: in other memory."""
    own = launch(start, '--workers', 1, '--gpu-timeout', '500ms')
    assert ask(own) == ('cuda:0', reference())
    before = slot_files(own)
    assert before
    pid = fake_gpu.engine(own)
    os.kill(pid, signal.SIGSTOP)
    assert ask(own)[1] == reference()
    assert before - slot_files(own), 'the slot of the lost run is the same memory still'
    served_by_the_next(own, pid)


def test_a_start_that_hangs(start, reference):
    """The CPU serves, and the end is not held up."""
    own = launch(start, serving=False, FAULT='cuInit:1:0:hang')
    assert daemon.eventually(lambda: fake_gpu.children(own))
    assert ask(own)[1] == reference() and backend(own)['state'] == 'starting'
    own.signal()
    begin = time.monotonic()
    assert own.wait() == 0 and time.monotonic() - begin < 1 * daemon.SLOW


# --- the engine's end ------------------------------------------------------------------------
@pytest.mark.parametrize('number', (signal.SIGKILL, signal.SIGUSR1, signal.SIGABRT), ids=('kill', 'fault', 'crash'))
def test_the_engine_ends_under_load(start, reference, say, number):
    """SIGUSR1 lets a kernel fault. Two ends: after a third there is a pause."""
    own = launch(start, '--workers', 4)
    chance = random.Random(seed := random.randrange(1000))
    wanted = reference(MEDIUM, 'sigma=1')
    with fake_gpu.Load(4, lambda: ask(own, MEDIUM, 'sigma=1'), lambda _: wanted) as load:
        assert daemon.eventually(lambda: len(load.names) > 8)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:  # the CPU's work has slots of another kind
            list(pool.map(lambda _: ask(own, MEDIUM, 'sigma=1&backend=cpu'), range(32)))
        before = own.descriptors()
        for _ in range(2):
            pid = fake_gpu.engine(own)
            time.sleep(chance.random() * 0.4)
            os.kill(pid, number)
            served_by_the_next(own, pid)
            asked = len(load.names)
            assert daemon.eventually(lambda: 'cuda:0' in load.names[asked:])
    say(f'{len(load.names)} requests, {load.names.count("cuda:0")} by the GPU, 2 ends (seed {seed})')
    assert daemon.eventually(lambda: own.descriptors() <= before), 'descriptors leak'
    assert list(fake_gpu.children(own).values()).count('Z') == 0 and len(fake_gpu.children(own)) == 1


def test_a_fault_of_a_kernel(start, reference):
    own = launch(start)
    pid = fake_gpu.engine(own)
    os.kill(pid, signal.SIGUSR1)
    name, result = ask(own)
    assert name.startswith('cpu/') and result == reference()
    served_by_the_next(own, pid)
    assert ask(own) == ('cuda:0', reference())
    assert any('719' in line for line in own.lines)


def test_three_ends_and_there_is_a_pause(start, reference):
    own = launch(start)
    fake_gpu.kill_three(own)
    for _ in range(30):
        name, result = ask(own)
        assert name.startswith('cpu/') and result == reference()
        assert not fake_gpu.children(own), 'it was started again at once'
        time.sleep(0.02)
    assert own.metrics()['blurd_gpu_state'] == 2


def test_a_kernel_fault_in_a_single_process_stays(start, reference, tmp_path):
    path = tmp_path / 'fault'
    own = launch(start, '--single-process', 'yes', '--workers', 3, FAULT_FILE=path)
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for fault in (None, 'cuLaunchKernel:1:719'):
            if fault:
                path.write_text(fault)
            assert set(pool.map(lambda _: ask(own)[1], range(24))) == {reference()}
    assert await_state(own, 'down')
    assert ask(own)[0].startswith('cpu/') and not path.exists()


def test_the_spawner_dies(start, reference):
    """Its engine ends with it. Its keeper starts another one, and the GPU serves again."""
    own = launch(start)
    pid = fake_gpu.engine(own)
    os.kill(fake_gpu.process(pid)[0], signal.SIGKILL)
    assert daemon.eventually(lambda: not fake_gpu.is_alive(pid))
    assert ask(own)[1] == reference()
    fake_gpu.served_by_the_next(own, pid)
    assert ask(own) == ('cuda:0', reference())


def test_the_spawner_and_its_keeper_die(start, reference):
    """No engine can be started: the CPU does the work."""
    own = launch(start)
    spawner = fake_gpu.process(fake_gpu.engine(own))[0]
    os.kill(fake_gpu.process(spawner)[0], signal.SIGKILL)
    os.kill(spawner, signal.SIGKILL)
    await_state(own, 'down')
    for _ in range(5):
        name, result = ask(own)
        assert name.startswith('cpu/') and result == reference()


# --- the front's end -------------------------------------------------------------------------
def test_no_engine_is_left_after_the_end(start):
    own = launch(start)
    pid = fake_gpu.engine(own)
    own.signal()
    begin = time.monotonic()
    assert own.wait() == 0
    assert time.monotonic() - begin < 1 * daemon.SLOW and not fake_gpu.is_alive(pid)


def test_the_engine_ends_with_the_front(start):
    own = launch(start)
    pid = fake_gpu.engine(own)
    own.may_end_with = (-signal.SIGKILL,)
    own.signal(signal.SIGKILL)
    own.wait()
    assert daemon.eventually(lambda: not fake_gpu.is_alive(pid), 2)


@pytest.mark.parametrize('number', (signal.SIGTERM, signal.SIGINT))
def test_the_engine_leaves_the_end_to_the_front(start, number):
    """Signals do not end the engine. Ctrl-C at a terminal reaches both processes."""
    own = launch(start)
    pid = fake_gpu.engine(own)
    os.kill(pid, number)
    time.sleep(0.1)
    assert ask(own)[0] == 'cuda:0' and fake_gpu.engine(own) == pid


def test_the_engine_holds_nothing_of_the_front(start):
    """The engine has no client's connection and no port, because it could keep them open after the front's
    end."""
    own = launch(start)
    with own.connect():
        pid = fake_gpu.engine(own)
        os.kill(pid, signal.SIGKILL)
        pid = served_by_the_next(own, pid)
        links = {int(fd): os.readlink(f'/proc/{pid}/fd/{fd}') for fd in os.listdir(f'/proc/{pid}/fd')}
    others = {fd: link for fd, link in links.items() if fd > 3 and '/build/models/' not in link}
    assert 3 in links and not others, links


def test_an_engine_leaves_no_descriptors_in_the_front(start):
    own = launch(start)
    assert ask(own)[0] == 'cuda:0'
    before = own.descriptors()
    pid = fake_gpu.engine(own)
    os.kill(pid, signal.SIGKILL)
    served_by_the_next(own, pid)
    assert daemon.eventually(lambda: own.descriptors() <= before, 2), own.open_files()
