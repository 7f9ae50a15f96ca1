# SPDX-License-Identifier: MIT
"""With a GPU, a fake one: when it serves, its results, and the messages when there is none."""

import concurrent.futures
import os
import signal
import time

import pytest

import daemon
import fake_gpu
import foreign
import pictures
from fake_gpu import ask, await_state, backend, launch


pytestmark = fake_gpu.needed


@pytest.fixture(scope='module')
def reference():
    made = fake_gpu.Reference()
    yield made
    made.stop()


@pytest.fixture(scope='module')
def gpu():
    with daemon.Daemon(*fake_gpu.options(), environment=fake_gpu.settings()) as own:
        await_state(own, 'serving')
        yield own


def test_the_cpu_answers_until_the_gpu_serves(start, reference):
    begin = time.monotonic()
    own = launch(start, serving=False, FAULT=f'cuInit:1:0:{700 * daemon.SLOW:.0f}')
    name, body = ask(own)
    assert time.monotonic() - begin < 0.6 * daemon.SLOW, 'somebody waited for the GPU'
    assert name.startswith('cpu/') and body == reference()
    assert backend(own) == {'name': 'cuda', 'state': 'starting', 'reason': 'starting'}
    assert own.get('/readyz').status_code == 200
    assert own.metrics()['blurd_gpu_state'] == 0
    reason = await_state(own, 'serving')
    assert '1 GPU(s)' in reason and 'Fake GPU 0' in reason
    assert own.metrics()['blurd_gpu_state'] == 1
    assert ask(own) == ('cuda:0', reference())
    metrics = own.metrics()
    assert metrics['blurd_backend_failures_total'] == 0
    assert not fake_gpu.gpu_lines(own)


# --- the same bytes ------------------------------------------------------------------------
def sixteen(width, height, channels):
    """All 16 bits used."""
    picture = pictures.photograph(width, height, channels).astype('uint16')
    return pictures.png(picture * 257 ^ pictures.noise(width, height, channels), depth=16)


BODIES = {
    'gray': lambda w, h: pictures.png(pictures.photograph(w, h, 1)),
    'gray+alpha': lambda w, h: pictures.png(pictures.photograph(w, h, 2)),
    'rgb': lambda w, h: pictures.png(pictures.photograph(w, h, 3)),
    'rgba': lambda w, h: pictures.png(pictures.photograph(w, h, 4)),
    'gray 16': lambda w, h: sixteen(w, h, 1),
    'gray+alpha 16': lambda w, h: sixteen(w, h, 2),
    'rgb 16': lambda w, h: sixteen(w, h, 3),
    'rgba 16': lambda w, h: sixteen(w, h, 4),
    'jpeg gray': lambda w, h: pictures.jpeg(pictures.photograph(w, h, 1)),
    'jpeg 420': lambda w, h: pictures.jpeg(pictures.photograph(w, h), subsampling='420'),
    'jpeg 422': lambda w, h: pictures.jpeg(pictures.photograph(w, h), subsampling='422'),
    'jpeg 444': lambda w, h: pictures.jpeg(pictures.photograph(w, h), subsampling='444'),
}


def check_same(own, reference, body, query):
    name, result = ask(own, body, query)
    assert name == 'cuda:0', own.lines[-20:]
    assert result == reference(body, query), query


@pytest.mark.parametrize('kind', BODIES)
@pytest.mark.parametrize('sigma', (0.6, 3, 12, 60))
def test_the_gpu_makes_the_bytes_of_the_cpu(gpu, reference, kind, sigma):
    check_same(gpu, reference, BODIES[kind](93, 71), f'sigma={sigma}')


def test_the_cpu_where_it_is_asked_for(gpu, reference):
    for kind in ('rgb', 'jpeg 420'):
        body = BODIES[kind](93, 71)
        name, result = ask(gpu, body, 'sigma=4&backend=cpu')
        assert name.startswith('cpu/') and result == reference(body, 'sigma=4')
        check_same(gpu, reference, body, 'sigma=4&backend=auto')


@pytest.mark.parametrize('edge', ('clamp', 'mirror', 'wrap', 'zero'))
@pytest.mark.parametrize('kind', ('rgb', 'rgba', 'gray 16', 'jpeg 420'))
def test_edges(gpu, reference, kind, edge):
    for sigma in (2, 25):
        check_same(gpu, reference, BODIES[kind](67, 45), f'sigma={sigma}&edge={edge}')


@pytest.mark.parametrize('size', ((1, 1), (1, 70), (70, 1), (2, 3), (129, 17)))
def test_small_pictures(gpu, reference, size):
    for kind in ('rgb', 'gray+alpha', 'jpeg 420'):
        for query in ('sigma=1', 'sigma=40', 'sigma=5&kernel_size=7'):
            check_same(gpu, reference, BODIES[kind](*size), query)


def test_an_orientation_is_undone_first(gpu, reference):
    body = pictures.with_segments(BODIES['jpeg 420'](64, 48), pictures.exif_segment(6))
    check_same(gpu, reference, body, 'sigma=3')
    check_same(gpu, reference, body, 'sigma=3&format=png')


@pytest.mark.parametrize('kind', foreign.WRITERS)
def test_newer_formats(gpu, reference, kind):
    if kind not in gpu.get('/version').json()['formats']['reads']:
        pytest.skip(f'this build does not read {kind}')
    body = foreign.write(kind, pictures.photograph(94, 72))
    for query in ('sigma=3', 'sigma=3&colorspace=rgb', 'sigma=8&region=10,10,40,30&feather=4', 'sigma=3&format=png'):
        check_same(gpu, reference, body, query)


# --- several -------------------------------------------------------------------------------
def used(own, requests=60):
    """The devices that answer when six clients ask at once."""
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        return {name for name, _ in pool.map(lambda _: ask(own), range(requests))}


@pytest.mark.parametrize('gpus,numbers', (('all', (0, 1, 2)), ('0,2', (0, 2)), ('1', (1,))))
def test_every_wanted_gpu_works(start, reference, gpus, numbers):
    own = launch(start, '--gpus', gpus, '--workers', 6, DEVICES=3)
    assert f'{len(numbers)} GPU(s)' in backend(own)['reason']
    names = {f'cuda:{number}' for number in numbers}
    seen = set()
    assert daemon.eventually(lambda: seen.update(used(own)) or seen >= names), seen
    assert seen == names
    assert ask(own)[1] == reference()


@pytest.mark.parametrize('call', ('cuDeviceGet', 'cuDevicePrimaryCtxRetain'))
def test_a_gpu_that_cannot_be_opened_is_left_out(start, reference, call):
    own = launch(start, '--workers', 4, DEVICES=3, FAULT=f'{call}:2:101')
    assert '2 GPU(s)' in backend(own)['reason']
    assert used(own) == {'cuda:0', 'cuda:2'}
    assert ask(own)[1] == reference()
    lines = fake_gpu.gpu_lines(own)
    assert len(lines) == 1 and 'cuda:1' in lines[0] and call in lines[0]


@pytest.mark.parametrize('gpus', ('7', '1,5', 'gpu', '-1', '1x'))
def test_gpus_that_do_not_exist(start, gpus):
    own = launch(start, '--gpus', gpus, serving=False)
    assert gpus in await_state(own, 'down')
    assert ask(own)[0].startswith('cpu/')


def test_none_is_wanted(start):
    own = launch(start, '--gpus', 'none', serving=False)
    assert ask(own)[0].startswith('cpu/')
    assert [entry['name'].split('/')[0] for entry in own.get('/readyz').json()['backends']] == ['cpu']
    assert own.metrics()['blurd_gpu_state'] == 3
    time.sleep(0.2)
    assert not fake_gpu.children(own)


# --- none ----------------------------------------------------------------------------------
ABSENT = {
    'no library': (('--cuda-library', '/nonexistent/libcuda.so'), {}, '/nonexistent/libcuda.so'),
    'another library': (('--cuda-library', 'libz.so.1'), {}, 'not a CUDA driver'),
    'stub': ((), {'FAULT': 'cuDriverGetVersion:1:34'}, 'stub'),
    'old driver': ((), {'VERSION': 11080}, '11.8'),
    'missing function': ((), {'MISSING': 'cuLaunchKernel'}, 'cuLaunchKernel'),
    'no device': ((), {'DEVICES': 0}, 'cuInit'),
    **{f'cuInit {code}': ((), {'FAULT': f'cuInit:1:{code}'}, f'({code})') for code in (2, 3, 100, 803, 999)},
    'cuDeviceGetCount': ((), {'FAULT': 'cuDeviceGetCount:1:3'}, 'cuDeviceGetCount'),
}


@pytest.mark.parametrize('name', ABSENT)
def test_without_a_gpu_the_cpu_serves(start, reference, name):
    options, values, says = ABSENT[name]
    begin = time.monotonic()
    own = launch(start, *options, serving=False, **values)
    assert ask(own)[1] == reference()
    assert time.monotonic() - begin < 0.5 * daemon.SLOW
    assert says in await_state(own, 'down')
    assert own.metrics()['blurd_gpu_state'] == 2
    assert own.get('/readyz').status_code == 200
    answered, result = ask(own)
    assert answered.startswith('cpu/') and result == reference()
    lines = fake_gpu.gpu_lines(own)
    assert len(lines) == 1 and says in lines[0], lines
    assert daemon.eventually(lambda: not fake_gpu.children(own), 2)


@pytest.mark.parametrize('name', ABSENT)
def test_a_required_gpu_that_is_absent(name):
    options, values, says = ABSENT[name]
    code, _, log = daemon.run('--listen', '127.0.0.1', '--port', 0, *fake_gpu.options('--require-gpu', 'yes', *options),
                              environment=fake_gpu.settings(**values))
    assert code == 69
    last = log.strip().splitlines()[-1]
    assert 'error start' in last and '--require-gpu' in last and says in last


def test_a_required_gpu_that_is_there(start):
    own = launch(start, '--require-gpu', 'yes')
    assert own.get('/readyz').status_code == 200 and ask(own)[0] == 'cuda:0'


def test_a_required_gpu_that_is_lost(start, reference):
    """The daemon is not ready, so that balancers choose others. A request that still comes gets its
    picture."""
    own = launch(start, '--require-gpu', 'yes')
    for _ in range(3):
        await_state(own, 'serving')
        pid = fake_gpu.engine(own)
        os.kill(pid, signal.SIGKILL)
        assert daemon.eventually(lambda: pid not in fake_gpu.children(own))
    await_state(own, 'down')
    answer = own.get('/readyz')
    assert answer.status_code == 503 and answer.headers['Retry-After']
    assert ask(own)[1] == reference()


# --- wrong ---------------------------------------------------------------------------------
def test_a_gpu_with_wrong_pixels_never_serves(start, reference):
    own = launch(start, serving=False, WRONG=1)
    assert 'wrong pixels' in await_state(own, 'down')
    for _ in range(20):
        name, body = ask(own)
        assert name.startswith('cpu/') and body == reference()
    assert daemon.run('--port', 0, *fake_gpu.options('--require-gpu', 'yes'), environment=fake_gpu.settings(WRONG=1))[0] == 69


def ask_for(own, target, body):
    answer = own.post(target, body)
    assert answer.status_code == 200
    return answer.headers['X-Backend'], answer.content


def test_one_filter_with_wrong_pixels_is_left_to_the_cpu(start):
    own, sound = launch(start, IDLE='stats'), launch(start)
    assert any('leaves stats to the CPU' in line for line in fake_gpu.gpu_lines(own))
    body = BODIES['rgb'](93, 71)
    for target, backend in (('/stats', 'cpu/'), ('/blur?sigma=2', 'cuda:0'), ('/median?radius=2', 'cuda:0')):
        name, content = ask_for(own, target, body)
        assert name.startswith(backend) and content == ask_for(sound, target, body)[1], target
    assert own.metrics()['blurd_backend_failures_total'] == 0


def test_a_filter_that_faults_is_left_to_the_cpu(start):
    """The first engine ends in its self-test, the next one does not try that filter."""
    own = launch(start, serving=False, FAULTY='stats')
    await_state(own, 'serving')
    body = BODIES['rgb'](93, 71)
    assert ask_for(own, '/stats', body)[0].startswith('cpu/')
    assert ask_for(own, '/blur?sigma=2', body)[0] == 'cuda:0'


# --- in one process ------------------------------------------------------------------------
@pytest.mark.parametrize('kind', ('rgb', 'rgba 16', 'jpeg 420'))
def test_single_process(start, reference, kind):
    own = launch(start, '--single-process', 'yes', '--workers', 2)
    for sigma in (1, 30):
        check_same(own, reference, BODIES[kind](93, 71), f'sigma={sigma}')
    assert not fake_gpu.children(own)
