# SPDX-License-Identifier: MIT
"""A process of codecs that a picture has taken over: what it sees and writes of other requests, which is nothing.
The tests read and write its mappings from outside, as it could itself."""

import io
import os
import random
import signal
import threading
import time

import numpy
import pytest
from PIL import Image

import daemon
import pictures
from test_codec_process import codecs, webp

CANARY = b'the bytes of another client, 0123456789'


@pytest.fixture(scope='module', autouse=True)
def is_built(shared):
    if 'webp' not in shared.get('/version').json()['formats']['reads']:
        pytest.skip('this build has no WebP')


def lent(process):
    """(start, end, inode) of each slot that the process maps."""
    found = []
    try:
        with open(f'/proc/{process}/maps') as file:
            lines = file.readlines()
    except PermissionError:
        pytest.skip('this user may not read the mappings of these processes')
    for line in lines:
        if 'blurd-slot' in line:
            start, _, end = line.split()[0].partition('-')
            found.append((int(start, 16), int(end, 16), line.split()[4]))
    return found


def inodes(*processes):
    """Of the slots that they map."""
    return {inode for process in processes for _, _, inode in lent(process)}


def memory_of(process):
    try:
        return open(f'/proc/{process}/mem', 'r+b', 0)
    except PermissionError:
        pytest.skip('this user may not read the memory of these processes')


def contents(process):
    with memory_of(process) as memory:
        for start, end, _ in lent(process):
            memory.seek(start)
            yield memory.read(end - start)


def secret_png():
    row = numpy.frombuffer(CANARY * 10, numpy.uint8)[:300]
    target = io.BytesIO()
    Image.fromarray(numpy.tile(row, (300, 1))).save(target, 'PNG', compress_level=0)
    return target.getvalue()


def started(own, workers):
    """Processes of all workers that can be made to serve a WebP."""
    for _ in range(20):
        threads = [threading.Thread(target=own.post, args=('/blur?sigma=1', webp())) for _ in range(2 * workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(codecs(own)) == workers:
            break
    assert codecs(own)
    return list(codecs(own))


def test_others_are_not_seen(start):
    own = start('--workers', 2)
    processes = started(own, 2)
    bodies = [secret_png(), pictures.with_segments(pictures.small_jpeg(), (0xfe, CANARY))]
    for body in bodies:
        for _ in range(4):
            assert own.post('/blur?sigma=0.1&format=png', body).status_code == 200
            for process in processes:
                assert lent(process)
                assert not any(CANARY[:16] in memory for memory in contents(process))
    assert set(processes) <= set(codecs(own))


def test_a_request_leaves_nothing(start):
    own = start('--workers', 1)
    for side in (100, 400, 150):
        assert own.post('/blur?sigma=1', webp(side, side)).status_code == 200
        process, = codecs(own)
        assert lent(process)
        assert not any(any(memory) for memory in contents(process))


def test_each_process_has_memory_of_its_own(start):
    own = start('--workers', 2)
    processes = started(own, 2)
    inodes = [inode for process in processes for _, _, inode in lent(process)]
    assert len(inodes) == len(set(inodes)) == len(processes)


def test_a_slot_in_the_pool_is_mapped_by_the_daemon_alone(start):
    """With each process of a codec the daemon shares one slot, which goes with the process."""
    own = start('--workers', 2)
    bodies = [pictures.small_jpeg(), pictures.small_png(), secret_png()]

    def work():
        for body in bodies:
            assert own.post('/blur?sigma=1&format=png', body).status_code == 200

    work()
    pool = inodes(own.process.pid)
    assert pool
    processes = started(own, 2)
    assert own.post('/blur?sigma=1&format=webp', bodies[0]).status_code == 200
    work()
    lent_slots = inodes(*processes)
    assert len(lent_slots) == len(processes) and not lent_slots & pool
    assert inodes(own.process.pid) >= pool | lent_slots
    for process in processes:
        os.kill(process, signal.SIGKILL)
    assert daemon.eventually(lambda: not codecs(own))
    others = started(own, len(processes))
    work()
    assert not lent_slots & inodes(own.process.pid, *others) and not pool & inodes(*others)


def scribble(children, overwrite, until, written):
    """Writes what `overwrite` says to the memory of all these processes, new processes and new mappings included, until the
    end and then once more. `written` has the number of writes into each of them that maps memory."""
    chance, ends = random.Random(7), False
    while not ends:
        ends = until.is_set()
        for process in children():
            try:
                spans = lent(process)
                if spans:
                    written.setdefault(process, 0)
                with open(f'/proc/{process}/mem', 'r+b', 0) as memory:
                    for start, end, _ in spans:
                        for place, data in overwrite(chance, start, end):
                            written[process] += os.pwrite(memory.fileno(), data, place) == len(data)
            except OSError:
                pass  # it has ended, or unmapped a slot


def check_written(written, begun, left):
    """All of these that map memory were written to: those of the beginning, and those that are left."""
    expected = {*begun, *(process for process in left if lent(process))}
    assert begun and all(written.get(process) for process in expected), (written, expected)


def overwrite(chance, start, end):
    """What lies in an exchange begins at its start."""
    for _ in range(500):
        near = start + chance.randrange(2048) if chance.random() < 0.5 else chance.randrange(start, end - 8)
        yield near, chance.randbytes(chance.randrange(1, 8))


def test_scribbled_memory(start, say):
    """Requests for which no process is needed get the same bytes as without the scribbling."""
    own = start('--workers', 2)
    processes = started(own, 2)
    bodies = [pictures.jpeg(pictures.photograph(300, 200)), pictures.small_png(), secret_png(),
              pictures.jpeg(pictures.photograph(200, 300), progressive=True)]
    targets = ['/blur?sigma=1', '/blur?sigma=2&region=5,5,9,9', '/resize?width=50', '/rotate?angle=90',
               '/blur?sigma=1&metadata=keep']
    cases = [(target, body) for target in targets for body in bodies]
    wanted = [own.post(*case).content for case in cases]
    memory_of(processes[0]).close()  # or there is nothing to test
    until, end, served, written = threading.Event(), time.monotonic() + 6, 0, {}
    writer = threading.Thread(target=scribble, args=(lambda: codecs(own), overwrite, until, written))
    writer.start()
    try:
        while time.monotonic() < end:
            for case, want in zip(cases, wanted):
                answer = own.post(*case)
                assert answer.status_code == 200 and answer.content == want, case[0]
                served += 1
            # The scribbled process's own picture may be wrong, but nothing else.
            assert own.post('/resize?width=50&format=jpeg', webp()).status_code in (200, 400, 422, 500)
    finally:
        until.set()
        writer.join()
    check_written(written, processes, codecs(own))
    say(f'{served} requests beside {sum(written.values())} writes into {len(written)} processes')
