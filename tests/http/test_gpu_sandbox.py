# SPDX-License-Identifier: MIT
"""The engine in its sandbox: the rules in force, and the reaction where the driver does not work in it."""

import os
import pathlib
import re
import signal

import pytest

import daemon
import fake_gpu
from fake_gpu import SMALL, ask, await_state, backend, launch

pytestmark = [fake_gpu.needed, pytest.mark.skipif(daemon.SANITIZED, reason='states of threads differ')]
ENTERED = r'engine message="sandbox: system calls by a list of (\d+) instructions; Landlock \d+"'
WITHOUT = 'does not work in its sandbox'


@pytest.fixture(scope='module')
def reference():
    made = fake_gpu.Reference()
    yield made
    made.stop()


@pytest.fixture
def picky(tmp_path):
    """A file that the driver opens for each launch, and that Landlock does not let it see."""
    path = tmp_path / 'needed'
    path.write_text('')
    return path


def states(pid, key):
    """The value for each thread of a process."""
    tasks = pathlib.Path(f'/proc/{pid}/task').iterdir()
    return [re.search(rf'^{key}:\s+(\d+)', (task / 'status').read_text(), re.M)[1] for task in tasks]


def has_seccomp(own):
    found = own.wait_for_line(ENTERED)
    return found and int(found[1]) > 0


def test_each_thread_is_closed_in(start, reference):
    own = launch(start)
    if not has_seccomp(own):
        pytest.skip('this kernel has no seccomp')
    assert ask(own) == ('cuda:0', reference())
    pid = fake_gpu.engine(own)
    assert set(states(pid, 'Seccomp')) == {'2'} and set(states(pid, 'NoNewPrivs')) == {'1'}
    assert not fake_gpu.gpu_lines(own)


def test_so_is_the_next_engine(start, reference):
    own = launch(start)
    pid = fake_gpu.engine(own)
    os.kill(pid, signal.SIGKILL)
    other = fake_gpu.served_by_the_next(own, pid)
    assert ask(own) == ('cuda:0', reference())
    if has_seccomp(own):
        assert set(states(other, 'Seccomp')) == {'2'}


def test_off(start, reference):
    own = launch(start, '--sandbox', 'off')
    assert ask(own) == ('cuda:0', reference())
    assert set(states(fake_gpu.engine(own), 'Seccomp')) == {'0'}
    assert not any('engine message="sandbox' in line for line in own.lines)


def test_a_driver_that_does_not_work_in_it(start, reference, picky):
    own = launch(start, OPENS=picky)
    if not has_seccomp(own) or 'Landlock 0' in own.wait_for_line(ENTERED)[0]:
        pytest.skip('this kernel has no sandbox that hides a file')
    assert own.wait_for_line(WITHOUT) and sum(WITHOUT in line for line in own.lines) == 1
    assert ask(own) == ('cuda:0', reference())
    assert set(states(fake_gpu.engine(own), 'Seccomp')) == {'0'}


def test_must_work_in_it(start, reference, picky):
    own = launch(start, '--sandbox', 'on', serving=False, OPENS=picky)
    await_state(own, 'down')  # at first maybe because the process of the first attempt has ended
    assert daemon.eventually(lambda: 'cuLaunchKernel' in backend(own)['reason'])
    name, result = ask(own)
    assert name.startswith('cpu/') and result == reference()
    assert not any(WITHOUT in line for line in own.lines)
    assert not daemon.eventually(lambda: backend(own)['state'] == 'serving', 0.5)


def test_once_it_worked_no_other_is_started(start, reference, picky):
    """An engine that failed by itself is no reason to start one without a sandbox: the spawner knows better."""
    own = launch(start, OPENS='/dev/null')
    assert ask(own, SMALL) == ('cuda:0', reference())
    for _ in range(2):
        pid = fake_gpu.engine(own)
        os.kill(pid, signal.SIGKILL)
        fake_gpu.served_by_the_next(own, pid)
    assert not any(WITHOUT in line for line in own.lines)
