# SPDX-License-Identifier: MIT
"""Progressive JPEGs: a worker decodes them to coefficients, and a fake GPU does the rest, with the bytes of the CPU."""

import concurrent.futures
import random

import numpy
import pytest

import anatomy
import daemon
import fake_gpu
import faces
import pictures
from fake_jpeg import BY_GPU, PLACES, ask, await_places, jpeg_options, launch_jpeg, places
from problems import check_problem
from test_gpu_jpeg import told
from test_multipart import form
from test_orientation import marked

pytestmark = fake_gpu.needed

BY_CPU = 'cuda:0'  # its kernels filter, and the CPU's codecs do the rest
REGIONS = 'region=10,9,30.5,20&region=ellipse:40.3,35,40,44'


def make(width, height, sampling='420', **more):
    samples = pictures.photograph(width, height, 1 if sampling == 'gray' else 3)
    return pictures.jpeg(samples, subsampling='444' if sampling == 'gray' else sampling, progressive=True, **more)


PHOTO = make(75, 61)
SIZES = ((64, 48), (63, 47), (17, 65), (8, 8), (1, 1), (2, 3), (300, 7))
if daemon.SANITIZED:  # the kernels take seconds then
    SIZES = SIZES[1:3]


@pytest.fixture(scope='module')
def gpu():
    with daemon.Daemon(*jpeg_options(), environment=fake_gpu.settings()) as own:
        await_places(own)
        yield own


def same(gpu, cpu, body, target='/blur?sigma=2', name=BY_GPU):
    answer = ask(gpu, body, target)
    assert answer == (name, ask(cpu, body, target)[1]), target
    return answer[1]


def scans_of(body):
    return body.count(b'\xff\xda')


# --- on the GPU ----------------------------------------------------------------------------
@pytest.mark.parametrize('sampling', ('420', '422', '444', 'gray'))
@pytest.mark.parametrize('size', SIZES, ids=str)
def test_shapes(gpu, cpu, sampling, size):
    body = make(*size, sampling)
    assert scans_of(body) >= 6
    for target in ('/blur?sigma=1', '/pixelate?block=8&huffman=optimal'):
        same(gpu, cpu, body, target)


@pytest.mark.parametrize('quality', (1, 30, 75, 95, 100))
@pytest.mark.parametrize('mode', ('&mode=redact', '&feather=4', '&invert=1', '&quality=80', '&quality=80&mode=redact'))
def test_regions(gpu, cpu, quality, mode):
    """Without a quality the blocks outside of the regions are those of the file."""
    body = pictures.jpeg(pictures.photograph(75, 61), quality, '420', progressive=True)
    same(gpu, cpu, body, f'/pixelate?block=6&{REGIONS}{mode}')


@pytest.mark.parametrize('sampling', ('422', '444', 'gray'))
def test_kept_blocks(gpu, cpu, sampling):
    body = make(75, 61, sampling)
    for mode in ('&mode=redact', '&feather=3', ''):
        same(gpu, cpu, body, f'/pixelate?block=8&{REGIONS}{mode}')
    before, after = anatomy.pixels(body), anatomy.pixels(ask(gpu, body, '/pixelate?block=8&mode=redact&region=17,18,3,3')[1])
    changed = (before != after).reshape(61, 75, -1).any(axis=2)
    if sampling == '444':
        assert changed[16:24, 16:24].any()
        changed[16:24, 16:24] = False
        assert not changed.any()


def test_kept_noise(gpu, cpu):
    body = pictures.jpeg(pictures.noise(75, 61), 100, subsampling='444', progressive=True)
    same(gpu, cpu, body, f'/pixelate?block=8&{REGIONS}')


def test_differences_without_a_symbol(gpu, cpu):
    """The most contrast between flat blocks, at the least steps."""
    tiles = numpy.kron(numpy.indices((9, 11)).sum(0) % 2 * 255, numpy.ones((8, 8))).astype(numpy.uint8)[:, :, None]
    body = pictures.jpeg(tiles, 100, progressive=True)
    for target in ('/pixelate?block=8', '/pixelate?block=8&region=8,8,8,8'):
        assert ask(gpu, body, target)[1] == ask(cpu, body, target)[1]


@pytest.mark.parametrize('orientation', range(1, 9))
def test_orientation(gpu, cpu, orientation):
    body = marked(pictures.photograph(64, 48), orientation, subsampling='420', progressive=True)
    for query in ('', '&autorotate=false', '&metadata=keep', f'&{REGIONS}'):
        same(gpu, cpu, body, '/blur?sigma=2' + query)
    odd = marked(pictures.photograph(63, 47), orientation, subsampling='420', progressive=True)
    assert ask(gpu, odd)[1] == ask(cpu, odd)[1]


def test_resize_and_pipelines(gpu, cpu):
    for target in ('/resize?width=31', '/pipeline?ops=blur|resize:width=30|blur:sigma=1', '/adjust?negate=true', '/resize?scale=1.7&enlarge=true'):
        same(gpu, cpu, PHOTO, target)


def test_a_reduced_picture(gpu, cpu):
    """The codec reads an eighth of each side, which the CPU does."""
    assert ask(gpu, make(300, 200), '/resize?width=30&shrink=fast')[1] == ask(cpu, make(300, 200), '/resize?width=30&shrink=fast')[1]


@pytest.mark.parametrize('odd', range(3))
def test_forms(gpu, cpu, odd):
    body = form(('sigma', '2'), ('image"; filename="' + 'p' * odd + '.jpg', PHOTO), extra=b'')
    name, result = ask(gpu, body, '/blur', headers={'Content-Type': 'multipart/form-data; boundary=simple'})
    assert (name, result) == (BY_GPU, ask(cpu, PHOTO)[1])


def scans_read(own):
    """How many files' scans the GPU has read."""
    return own.pictures('gpu-scans')


def test_the_gpu_reads_scans(start, cpu):
    """All of them if it shall do all JPEGs, and otherwise those beyond what half of the workers read."""
    own, shared = launch_jpeg(start), launch_jpeg(start, '--jpeg-codec', 'auto', '--workers', 2)
    assert ask(own, PHOTO) == (BY_GPU, ask(cpu, PHOTO)[1]) and scans_read(own) == 1
    large = make(640, 480)
    wanted = (BY_GPU, ask(cpu, large, '/blur?sigma=0.5')[1])
    assert ask(shared, large, '/blur?sigma=0.5') == wanted and scans_read(shared) == 0
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert set(pool.map(lambda _: ask(shared, large, '/blur?sigma=0.5'), range(32))) == {wanted}
    assert 0 < scans_read(shared) < 33


def test_what_the_gpu_does_not_read(start, cpu):
    """The CPU does files above 1 MiB and unusual scans."""
    own = launch_jpeg(start)
    segment = b'\xff\xef\xff\xff' + bytes(65533)
    for body in (PHOTO[:2] + segment * 17 + PHOTO[2:], PHOTO + PHOTO):
        assert ask(own, body, '/pixelate?block=8')[1] == ask(cpu, body, '/pixelate?block=8')[1]
    assert scans_read(own) == 0


def test_restart_markers(gpu, cpu):
    """The GPU does not read them, and the CPU then does all but the filter."""
    for body in (make(75, 61, sampling, restart_marker_rows=1) for sampling in ('420', '444', 'gray')):
        if b'\xff\xdd' not in body:
            pytest.skip('this Pillow writes no restart markers')
        same(gpu, cpu, body, name=BY_CPU)


# --- by the CPU ----------------------------------------------------------------------------
def renamed(body):
    """Components named 0 to 2."""
    data, at = bytearray(body), body.index(b'\xff\xc2')
    for i in range(3):
        data[at + 10 + 3 * i] = i
    while (at := data.find(b'\xff\xda', at + 1)) >= 0:
        for i in range(data[at + 4]):
            data[at + 5 + 2 * i] -= 1
    return bytes(data)


def test_frames_of_other_encoders(gpu, cpu):
    """No blocks of theirs are kept there."""
    same(gpu, cpu, renamed(PHOTO))
    same(gpu, cpu, renamed(PHOTO), f'/pixelate?block=6&{REGIONS}', BY_CPU)


def incomplete(body, scans):
    """Without the last scans, but with an end marker: libjpeg smooths the blocks."""
    at = -1
    for _ in range(scan_count := scans + 1):
        at = body.index(b'\xff\xda', at + 1)
    assert scan_count
    return body[:at] + b'\xff\xd9'


@pytest.mark.parametrize('scans', (1, 2, 4, 5, 6, 8, 9))
def test_incomplete_ones(gpu, cpu, scans):
    body = incomplete(PHOTO, scans)
    same(gpu, cpu, body, name=BY_CPU)
    same(gpu, cpu, body, f'/pixelate?block=6&mode=redact&{REGIONS}', BY_CPU)


@pytest.mark.parametrize('target', ('/blur?sigma=2&progressive=true', '/blur?backend=cpu', '/stats'))
def test_what_the_gpu_does_not_take(gpu, cpu, target):
    answers = [own.post(target, PHOTO) for own in (gpu, cpu)]
    assert [a.status_code for a in answers] == [200, 200] and answers[0].content == answers[1].content
    assert not answers[0].headers.get('X-Backend', '').endswith('/jpeg')


def damaged():
    chance = random.Random(3)
    for cut in sorted({2, 20, 300, len(PHOTO) - 1, len(PHOTO) - 2, len(PHOTO) - 3, *(chance.randrange(len(PHOTO)) for _ in range(20))}):
        yield f'cut at {cut}', PHOTO[:cut]
        yield f'cut and ended at {cut}', PHOTO[:cut] + b'\xff\xd9'
    for _ in range(60):
        at = chance.randrange(2, len(PHOTO))
        yield f'flipped at {at}', PHOTO[:at] + bytes([PHOTO[at] ^ 1 << chance.randrange(8)]) + PHOTO[at + 1:]
    scan = PHOTO.index(b'\xff\xda', PHOTO.index(b'\xff\xda') + 2)
    for place in range(4, 12):
        for value in (0, 1, 5, 63, 64, 255):
            yield f'{value} at {place} of a scan', PHOTO[:scan + place] + bytes([value]) + PHOTO[scan + place + 1:]
    yield 'more behind the end', PHOTO + b'what is this?' * 9
    yield 'two of them', PHOTO + PHOTO


DAMAGED = dict(damaged())


@pytest.mark.parametrize('part', range(4))
def test_damage(gpu, cpu, part):
    for what in list(DAMAGED)[part::4]:
        ours, theirs = (own.post('/blur?sigma=2', DAMAGED[what]) for own in (gpu, cpu))
        assert ours.status_code == theirs.status_code, f'{what}: {ours.content[:200]} {theirs.content[:200]}'
        assert ours.content == theirs.content if theirs.status_code == 200 else told(ours) == told(theirs), what


def test_damage_is_counted(start):
    own = launch_jpeg(start)
    check_problem(own.post('/blur', PHOTO[:-200] + PHOTO[-2:]), 'corrupt-image')
    metrics = own.metrics()
    assert metrics['blurd_jpeg_returned_total'] == 1 and own.pictures('gpu-scans', 'gpu-coefficients') == 0
    assert metrics['blurd_backend_failures_total'] == 0 and places(own) == PLACES
    assert ask(own, PHOTO)[0] == BY_GPU
    assert own.pictures('gpu-scans', 'gpu-coefficients') == 1


# --- faults, memory, choice ------------------------------------------------------------------
def test_many_at_a_time(gpu, cpu):
    other = make(45, 31, '444')
    wanted = {body: ask(cpu, body)[1] for body in (PHOTO, other)}
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for body, answer in pool.map(lambda i: (b := (PHOTO, other)[i % 2], ask(gpu, b)), range(64)):
            assert answer == (BY_GPU, wanted[body])


def test_memory_comes_back(start, cpu):
    own = launch_jpeg(start, '--memory', '64M')
    wanted = ask(cpu, PHOTO)[1]
    held = []
    for _ in range(8):
        assert ask(own, PHOTO) == (BY_GPU, wanted)
        held.append(own.metrics()['blurd_slot_bytes'])
    assert held[0] > 0 and set(held) == {held[0]}, 'each finds what the one before has given back'
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert set(pool.map(lambda _: ask(own, PHOTO)[1], range(64))) == {wanted}
    assert own.metrics()['blurd_slot_bytes'] <= 64 << 20


def test_too_large_for_the_memory(start):
    """Its coefficients do not fit: what the CPU's way says."""
    body = pictures.jpeg(numpy.zeros((4096, 4096, 3), numpy.uint8), progressive=True, subsampling='444')
    own = launch_jpeg(start, '--memory', '64M')
    check_problem(own.post('/blur', body), 'limit-exceeded')
    assert ask(own, PHOTO)[0] == BY_GPU


@pytest.mark.parametrize('call', ('cuMemsetD8Async', 'cuMemcpyHtoDAsync'))
def test_a_fault(start, cpu, tmp_path, call):
    path = tmp_path / 'fault'
    own = launch_jpeg(start, FAULT_FILE=path)
    wanted = ask(own, PHOTO)
    assert wanted == (BY_GPU, ask(cpu, PHOTO)[1])
    path.write_text(f'{call}:1:719')
    assert ask(own, PHOTO)[1] == wanted[1]
    path.unlink(missing_ok=True)
    await_places(own)
    assert daemon.eventually(lambda: ask(own, PHOTO) == wanted)


def test_the_option(start, cpu):
    own = fake_gpu.launch(start, *jpeg_options('--jpeg-codec', 'cpu'))
    assert ask(own, PHOTO) == (BY_CPU, ask(cpu, PHOTO)[1])


def test_auto_leaves_small_ones_to_the_cpu(start, cpu):
    own = launch_jpeg(start, '--jpeg-codec', 'auto')
    assert ask(own, PHOTO) == (BY_CPU, ask(cpu, PHOTO)[1])
    large = make(1280, 960)
    assert ask(own, large, '/blur?sigma=0.5') == (BY_GPU, ask(cpu, large, '/blur?sigma=0.5')[1])


@faces.needed
def test_faces(start, cpu):
    own = launch_jpeg(start, '--face-model', faces.MODEL)
    body = faces.again(faces.large(), progressive=True)
    for target in ('/pixelate?block=8&mode=redact&detect=faces&detect_size=160', '/detect?detect_size=160'):
        here, there = own.post(target, body), cpu.post(target, body)
        assert here.headers['X-Backend'] == BY_GPU and scans_of(body) > 6
        assert here.content == there.content or here.json() == there.json()
