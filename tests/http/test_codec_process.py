# SPDX-License-Identifier: MIT
"""WebP, AVIF, HEIC and JPEG XL run in processes of their own: how these start, fail and end."""

import io
import os
import pathlib
import signal
import threading
import time

import numpy
import pytest
from PIL import Image

import anatomy
import daemon
import pictures
from problems import check_late, check_problem

KEEPER, SPAWNER, CODEC = 'blurd-keeper', 'blurd-codecs', 'blurd-codec'


def stat(process):
    """(name, state, parent) of a process, or None."""
    try:
        head, _, rest = pathlib.Path(f'/proc/{process}/stat').read_text().rpartition(')')
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, parent = rest.split()[:2]
    return head.partition('(')[2], state, int(parent)


def children(parent):
    """process -> (name, state)"""
    found = {int(path.name): stat(path.name) for path in pathlib.Path('/proc').iterdir() if path.name.isdigit()}
    return {process: facts[:2] for process, facts in found.items() if facts and facts[2] == parent}


def spawner(own):
    """The process that starts codecs'; its parent is a keeper, which the daemon started."""
    keepers = [process for process, (name, _) in children(own.process.pid).items() if name == KEEPER]
    names = {name: process for keeper in keepers for process, (name, state) in children(keeper).items() if state != 'Z'}
    return names.get(SPAWNER)


def codecs(own):
    """The processes of codecs, zombies included."""
    return children(spawner(own))


def memory(process, key='RssAnon'):
    """Bytes."""
    text = pathlib.Path(f'/proc/{process}/status').read_text()
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith(f'{key}:'))) << 10


def webp(width=200, height=120, **more):
    target = io.BytesIO()
    Image.fromarray(pictures.photograph(width, height)).save(target, 'WEBP', **more)
    return target.getvalue()


def slow_webp():
    """Takes some hundred milliseconds to decode."""
    return webp(3000, 2500, lossless=True, method=0, quality=0)


@pytest.fixture(scope='module', autouse=True)
def is_built(shared):
    if 'webp' not in shared.get('/version').json()['formats']['reads']:
        pytest.skip('this build has no WebP')


def test_nothing_runs_before_the_first_picture(start, say):
    own = start('--workers', 2)
    assert own.post('/blur?sigma=2', pictures.small_jpeg()).status_code == 200
    assert codecs(own) == {}
    size = memory(spawner(own))
    say(f'the spawner has {size / 2**20:.1f} MiB of its own')
    assert size < (200 if daemon.SANITIZED else 4) << 20


def test_a_process_for_each_worker(start, say):
    own = start('--workers', 1)
    begin = time.monotonic()
    assert own.post('/blur?sigma=2', webp()).status_code == 200
    first = time.monotonic() - begin
    before = codecs(own)
    assert [name for name, _ in before.values()] == [CODEC]
    begin = time.monotonic()
    for _ in range(20):
        assert own.post('/blur?sigma=2', webp()).status_code == 200
    say(f'the first picture took {first * 1000:.1f} ms, others {(time.monotonic() - begin) * 50:.1f} ms')
    assert codecs(own).keys() == before.keys()


@pytest.mark.skipif(daemon.SANITIZED, reason='a sanitizer needs more calls')
def test_the_sandbox(start):
    own = start('--workers', 1)
    assert own.post('/blur?sigma=2', webp()).status_code == 200
    process, = codecs(own)
    status = pathlib.Path(f'/proc/{process}/status').read_text()
    assert 'Seccomp:\t2' in status and 'NoNewPrivs:\t1' in status


def test_a_daemon_without_sandbox(start):
    own = start('--workers', 1, '--sandbox', 'off')
    assert own.post('/blur?sigma=2', webp()).status_code == 200
    process, = codecs(own)
    assert 'Seccomp:\t0' in pathlib.Path(f'/proc/{process}/status').read_text()


def test_single_process(start):
    own = start('--workers', 1, '--single-process', 'true')
    assert own.post('/blur?sigma=2', webp()).status_code == 200
    assert children(own.process.pid) == {}


def cpu_seconds(process):
    """What the process itself has computed; 0 when it has ended."""
    try:
        fields = pathlib.Path(f'/proc/{process}/stat').read_text().rpartition(')')[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def kill_while_decoding(own, until, number):
    """Sends that signal to each process of a codec that is inside its library: to start takes less than 50 ms of the CPU."""
    while not until.is_set():
        for process in (process for process in codecs(own) if cpu_seconds(process) >= 0.05):
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


@pytest.mark.parametrize('number, problem, says', (
    (signal.SIGABRT, 'corrupt-image', 'the library that reads WebP failed on this picture'),
    (signal.SIGKILL, 'overloaded', 'the process of the codec was killed from outside')))
def test_a_library_that_faults(start, number, problem, says):
    """A fault is the picture's; a process that is killed, as the kernel does for want of memory, is not."""
    own = start('--workers', 1)
    body, done = slow_webp(), threading.Event()
    killer = threading.Thread(target=kill_while_decoding, args=(own, done, number))
    killer.start()
    try:
        answer = own.post('/blur?sigma=2&format=jpeg', body)
    finally:
        done.set()
        killer.join()
    check_problem(answer, problem, says=says)
    assert own.metrics()['blurd_codec_faults_total'] >= 1
    assert own.post('/blur?sigma=2', webp()).status_code == 200
    assert own.post('/blur?sigma=2', pictures.small_jpeg()).status_code == 200


def test_a_process_that_ends_between_pictures(start):
    own = start('--workers', 1)
    for _ in range(5):
        assert own.post('/blur?sigma=2', webp()).status_code == 200
        process, = codecs(own)
        os.kill(process, signal.SIGKILL)
        assert daemon.eventually(lambda: not codecs(own))
    assert own.post('/blur?sigma=2', webp()).status_code == 200


def test_the_time_limit(start):
    own = start('--workers', 1, '--work-timeout', '60ms')
    body = slow_webp()
    for _ in range(10):  # on a busy machine a request may reach its limit before the library is called
        assert check_late(lambda: own.post('/blur?sigma=2', body)).elapsed.total_seconds() < 2 * daemon.SLOW
        assert daemon.eventually(lambda: all(state == 'S' for _, state in codecs(own).values())), 'a process works on'
        if own.metrics()['blurd_codec_faults_total'] >= 1:
            return
    pytest.fail('no process was ended at the limit')


def test_nothing_is_left(start, say):
    own = start('--workers', 2)
    good, other, bad = webp(), webp(333, 222, lossless=True), webp()[:-40]
    for body in (good, other, bad):
        own.post('/blur?sigma=2', body)
    files, before = own.descriptors(), {process: memory(process) for process in codecs(own)}
    for _ in range(67):
        assert own.post('/blur?sigma=2', good).status_code == 200
        assert own.post('/sharpen?amount=1&format=jpeg', other).status_code == 200
        assert own.post('/blur?sigma=2', bad).status_code == 400
    assert all(state != 'Z' and name == CODEC for name, state in codecs(own).values())
    assert len(codecs(own)) <= 3 and own.descriptors() <= files + 6
    grown = [memory(process) - before.get(process, 0) for process in codecs(own)]
    say(f'after 200 pictures processes have grown by {max(grown) / 2**20:.1f} MiB at most')
    assert max(grown) < (200 if daemon.SANITIZED else 16) << 20


def test_sigterm_while_decoding(start):
    own = start('--workers', 1)
    body, answers = slow_webp(), []
    asking = threading.Thread(target=lambda: answers.append(own.post('/blur?sigma=2&format=jpeg', body)))
    asking.start()
    assert daemon.eventually(lambda: codecs(own))
    left = [spawner(own), *codecs(own)]
    own.signal()
    asking.join()
    assert answers[0].status_code == 200 and anatomy.pixels(answers[0].content).shape == (2500, 3000, 3)
    assert own.wait() == 0
    assert not [process for process in left if stat(process)]


def test_a_killed_daemon_leaves_nothing(start):
    own = start('--workers', 2)
    assert own.post('/blur?sigma=2', webp()).status_code == 200
    left = [spawner(own), *codecs(own)]
    assert len(left) == 2
    own.may_end_with = (-signal.SIGKILL,)
    own.process.kill()
    own.process.wait()
    assert daemon.eventually(lambda: all(stat(process) is None or stat(process)[1] == 'Z' for process in left))


def oom_score(process):
    return int(pathlib.Path(f'/proc/{process}/oom_score_adj').read_text())


def test_the_kernel_ends_a_codec_first(start):
    """Not the process that starts them, without which all formats are out, and not its keeper."""
    own = start('--workers', 1)
    assert own.post('/blur?sigma=2', webp()).status_code == 200
    process, = codecs(own)
    assert oom_score(spawner(own)) == oom_score(stat(spawner(own))[2]) == oom_score(own.process.pid) and oom_score(process) >= 500


def out(own):
    """Formats that are out; /readyz and the metric say the same."""
    page = own.get('/readyz')
    named, samples = page.json()['formats_out'], own.metrics()
    assert page.status_code == 200
    marked = [name for name in ('webp', 'avif', 'heic', 'tiff', 'jxl') if samples.get(f'blurd_format_out{{format="{name}"}}')]
    return named if named == marked else None


def test_a_spawner_that_dies_comes_back(start):
    own = start('--workers', 1)
    assert own.post('/blur?sigma=2', webp()).status_code == 200
    for _ in range(3):
        old = spawner(own)
        os.kill(old, signal.SIGKILL)
        assert own.post('/blur?sigma=2', webp()).status_code == 200
        assert spawner(own) not in (None, old)
        assert not out(own)
        time.sleep(1)  # one that dies within a second comes back a second later
    assert own.wait_for_line('helper .*blurd-codecs has ended .signal 9. and is started again')


def test_without_spawner_and_keeper(start):
    """Nothing is left that could start the spawner. Other formats are served, and it is told which are not."""
    own = start('--workers', 1)
    before = own.get('/readyz').json()
    assert before['formats_out'] == []
    process = spawner(own)
    os.kill(stat(process)[2], signal.SIGKILL)
    assert own.post('/blur?sigma=2', webp()).status_code == 200
    assert out(own) == []
    os.kill(process, signal.SIGKILL)
    reads = own.get('/version').json()['formats']['reads']
    assert daemon.eventually(lambda: out(own) == [name for name in reads if name not in ('jpeg', 'png', 'bmp', 'gif')])
    check_problem(own.post('/blur?sigma=2', webp()), 'overloaded', says='no process can be started')
    assert own.post('/blur?sigma=2', pictures.small_jpeg()).status_code == 200


def test_a_stopped_process_is_not_the_fault_of_the_picture(start):
    own = start('--workers', 1, '--work-timeout', '500ms')
    assert daemon.eventually(lambda: own.post('/blur?sigma=2', webp()).status_code == 200)  # on a busy machine the first start may be late
    stopped = next(iter(codecs(own)))
    os.kill(stopped, signal.SIGSTOP)
    answer = own.post('/blur?sigma=2', webp())
    check_problem(answer, 'overloaded', says='others had it meanwhile')
    assert int(answer.headers['Retry-After']) >= 1
    assert daemon.eventually(lambda: own.post('/blur?sigma=2', webp()).status_code == 200)
    assert stopped not in codecs(own)


@pytest.mark.parametrize('which', ('keeper', 'spawner', 'codec'))
def test_a_stopped_helper_does_not_delay_the_end(start, which):
    own = start('--workers', 1)
    assert own.post('/blur?sigma=2', webp()).status_code == 200
    process = {'keeper': stat(spawner(own))[2], 'spawner': spawner(own), 'codec': next(iter(codecs(own)))}[which]
    os.kill(process, signal.SIGSTOP)
    try:
        own.signal()
        assert own.wait(4) == 0
        assert daemon.eventually(lambda: stat(process) is None or stat(process)[1] == 'Z')
    finally:
        if stat(process):
            os.kill(process, signal.SIGCONT)


def test_answers_do_not_depend_on_the_process(start):
    apart, together = start('--workers', 1), start('--workers', 1, '--single-process', 'true')
    body = webp(211, 97, exif=pictures.exif(6))
    for target in ('/blur?sigma=2&metadata=keep', '/blur?sigma=2&format=avif', '/blur?sigma=2&format=jpeg&metadata=keep'):
        one, other = apart.post(target, body), together.post(target, body)
        assert one.status_code == other.status_code == 200
        assert one.content == other.content and numpy.size(one.content)
