# SPDX-License-Identifier: MIT
"""Which way a picture took is in Server-Timing, in its line of the log and in the metric, the same in each."""

import pytest

import daemon
import fake_gpu
import pictures
from fake_jpeg import await_places, jpeg_options, launch_jpeg

PHOTO = pictures.photograph(75, 61)
JPEG, PROGRESSIVE, PNG = pictures.jpeg(PHOTO), pictures.jpeg(PHOTO, progressive=True), pictures.png(PHOTO)
BLOCKS = pictures.jpeg(pictures.photograph(64, 48), subsampling='420')
ON_GPU = {
    'gpu-file': (JPEG, '/blur?sigma=2'),
    'gpu-scans': (PROGRESSIVE, '/blur?sigma=2'),
    'blocks': (BLOCKS, '/rotate?angle=90&lossless=true'),
    'gpu-decode': (JPEG, '/blur?sigma=2&format=png'),
    'gpu-encode': (PNG, '/blur?sigma=2&format=jpeg'),
    'gpu-filter': (PNG, '/blur?sigma=2'),
    'cpu': (PNG, '/blur?sigma=2&backend=cpu'),
}


def taken(own, body, target):
    """The way that the answer names, which is the one that was counted and logged."""
    before, name = own.metrics(), f'way-{taken.count}'
    taken.count += 1
    answer = own.post(target, body, headers={'X-Request-Id': name})
    assert answer.status_code == 200, answer.text
    way = answer.headers['Server-Timing'].partition('way;desc=')[2].strip('"')
    counted = {key: value - before[key] for key, value in own.metrics().items() if 'blurd_pictures_total' in key}
    assert {key: count for key, count in counted.items() if count} == {f'blurd_pictures_total{{way="{way}"}}': 1}
    assert own.wait_for_line(f'id={name} ')
    assert f' way={way} ' in next(line for line in own.lines if f'id={name} ' in line)
    return way


taken.count = 0


@pytest.fixture(scope='module')
def gpu():
    with daemon.Daemon(*jpeg_options(), environment=fake_gpu.settings()) as own:
        await_places(own)
        yield own


@pytest.mark.parametrize('way', ON_GPU)
@fake_gpu.needed
def test_with_a_gpu(gpu, way):
    assert taken(gpu, *ON_GPU[way]) == way


@pytest.mark.parametrize('way', ON_GPU)
def test_without_a_gpu(server, way):
    assert taken(server, *ON_GPU[way]) == ('blocks' if way == 'blocks' else 'cpu')


@fake_gpu.needed
def test_a_core_reads_few_files(start):
    """Cores leave scans to the GPU when many wait."""
    own = launch_jpeg(start, '--jpeg-codec', 'auto')
    assert taken(own, pictures.jpeg(pictures.photograph(900, 700), progressive=True), '/blur?sigma=2') == 'gpu-coefficients'


def test_no_way_of_what_was_refused(server):
    before = server.metrics()
    assert server.post('/blur', b'no picture', headers={'X-Request-Id': 'no-way'}).status_code == 415
    assert server.wait_for_line('id=no-way ')
    assert ' way=' not in next(line for line in server.lines if 'id=no-way ' in line)
    after = server.metrics()
    assert all(after[key] == before[key] for key in before if 'blurd_pictures_total' in key)
