# SPDX-License-Identifier: MIT
"""Who runs out of `work_timeout`: a picture that computes all the time is refused for good, with 422. One that waited for others, or
shared cores with them, gets 503 with Retry-After, and 200 when it is asked again without them."""

import concurrent.futures
import os
import pathlib
import statistics

import pytest

import daemon
import fake_gpu
import foreign
import pictures
from problems import check_late, check_problem

AT_ONCE = 8
GPU_LIMIT_MS = 500
MEDIANS = '/pipeline?ops=' + '|'.join(['median:radius=25'] * 8)
KINDS = {'filters': ('jpeg', 600, MEDIANS), 'a codec of its own process': ('webp', 2400, '/crop?width=16&height=16&format=png')}


def pin(own):
    """All threads and processes of the daemon have one core together, and so do those that they start."""
    core = {min(os.sched_getaffinity(0))}
    processes = [own.process.pid]
    for pid in processes:
        for task in pathlib.Path(f'/proc/{pid}/task').iterdir():
            os.sched_setaffinity(int(task.name), core)
            processes += [int(child) for child in (task / 'children').read_text().split()]


def body_of(kind, side):
    samples = pictures.noise(side // 4, side // 4, 3).repeat(4, 0).repeat(4, 1)
    return foreign.write(kind, samples)


@pytest.mark.alone
@pytest.mark.parametrize('kind', KINDS)
def test_pictures_that_share_a_core(start, kind):
    file, side, target = KINDS[kind]
    body = body_of(file, side)
    own = start('--gpus', 'none', '--workers', AT_ONCE, '--work-timeout', '1m', '--memory', '4GiB')
    if file not in own.get('/version').json()['formats']['reads']:
        pytest.skip(f'this build does not read {file}')
    answers = [own.post(target, body) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200] * 3, answers[0].text
    alone = statistics.median(answer.elapsed.total_seconds() for answer in answers)
    own = start('--gpus', 'none', '--workers', AT_ONCE, '--work-timeout', f'{2500 * alone:.0f}ms', '--memory', '4GiB')
    assert own.post(target, body).status_code in (200, 503)  # warms the processes up
    pin(own)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda _: own.post(target, body), range(AT_ONCE)))
    late = [answer for answer in answers if answer.status_code != 200]
    assert any('others had it meanwhile' in answer.text for answer in late), 'eight at once were as fast as one'
    for answer in late:
        check_problem(answer, 'overloaded')
        assert 1 <= int(answer.headers['Retry-After']) <= 60
    assert own.metrics()['blurd_refused_deadline_total'] >= len(late)
    assert daemon.eventually(lambda: own.post(target, body).status_code == 200, 30)


@pytest.mark.alone
def test_a_picture_that_takes_too_long_alone(start):
    file, side, target = KINDS['filters']
    own = start('--gpus', 'none', '--workers', 1, '--work-timeout', '15ms')
    body = body_of(file, side)
    assert check_late(lambda: own.post(target, body), 300).status_code == 422


def slow_on_gpu(own, path, count):
    """The answers to so many pictures at a time. A launch for each takes twice the limit, and sleeps."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        asked = []
        for _ in range(count):
            path.write_text(f'cuLaunchKernel:1:0:{2 * GPU_LIMIT_MS}')
            asked.append(pool.submit(own.post, '/blur?sigma=2&format=png', fake_gpu.MEDIUM))
            assert daemon.eventually(lambda: not path.exists()), 'it took another way'
        return [one.result() for one in asked]


@fake_gpu.needed
def test_a_picture_that_takes_too_long_on_a_gpu(start, tmp_path):
    """Alone it is refused for good; of two at a time each had half of the GPU."""
    path = tmp_path / 'fault'
    own = fake_gpu.launch(start, '--workers', 2, '--work-timeout', f'{GPU_LIMIT_MS}ms', '--gpu-timeout', '60s', FAULT_FILE=path)
    alone, = slow_on_gpu(own, path, 1)
    check_problem(alone, 'limit-exceeded', says='longer than the time limit')
    for answer in slow_on_gpu(own, path, 2):
        check_problem(answer, 'overloaded', says='others had it meanwhile')
        assert int(answer.headers['Retry-After']) >= 1
    fake_gpu.await_state(own, 'serving')
    assert own.post('/blur?sigma=2&format=png', fake_gpu.MEDIUM).headers['X-Backend'] == 'cuda:0'
