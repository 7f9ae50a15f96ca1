# SPDX-License-Identifier: MIT
"""work_timeout ends all kinds of work: decoders, filters, regions, encoders. The work exceeds the limit by
far, and the answer comes soon after it. "Soon" is CPU time, which does not depend on other load."""

import os
import pathlib
import zlib

import numpy
import pytest

import daemon
import pictures
from problems import check_late

LIMIT = 0.3  # seconds; work that takes less than a second without a limit gets a third of its time
SIDE = 3000
MATRIX = ';'.join(','.join(str((x * 7 + y * 3) % 5 + 1) for x in range(15)) for y in range(15))
RAGGED = '|'.join(['convolve:kernel=' + MATRIX] * 4)  # not separable
POLYGON = 'polygon:' + ','.join(f'{x},{y}' for x, y in zip(numpy.linspace(0, SIDE, 64).round(1), [0, SIDE] * 32))


def flat_png(channels):
    """A picture of one colour: a few kilobytes that decode quickly."""
    header = 2 * SIDE.to_bytes(4, 'big') + bytes((8, {3: 2, 4: 6}[channels], 0, 0, 0))
    row = b'\0' + bytes(range(10, 10 + channels)) * SIDE
    data = zlib.compress(row * SIDE, 1)
    return b'\x89PNG\r\n\x1a\n' + b''.join(pictures.chunk(tag, body) for tag, body in (('IHDR', header), ('IDAT', data), ('IEND', b'')))


def cpu_seconds(server):
    """CPU time of the daemon's process, in steps of 10 ms."""
    fields = pathlib.Path(f'/proc/{server.process.pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


@pytest.fixture(scope='module')
def bodies():
    photograph = numpy.tile(pictures.photograph(500, 500), (8, 8, 1))
    return {'png': flat_png(3), 'alpha': flat_png(4), 'jpeg': pictures.jpeg(photograph, 95),
            'progressive': pictures.jpeg(photograph, 92, progressive=True),
            'turned': pictures.with_segments(pictures.jpeg(photograph, 95), pictures.exif_segment(6, extras=False))}


KINDS = {
    'one convolve': ('alpha', f'/convolve?kernel={MATRIX}'),
    'blurs': ('alpha', '/pipeline?ops=' + '|'.join(['blur:sigma=20:kernel_size=99:edge=wrap'] * 8)),
    'linear light': ('png', '/pipeline?colorspace=linear&ops=' + '|'.join(['blur:sigma=20:kernel_size=99:edge=wrap'] * 8)),
    'polygons': ('png', '/pixelate?mode=redact&' + '&'.join([f'region={POLYGON}'] * 8)),
    'ellipses': ('png', '/blur?mode=redact&feather=500&' + '&'.join(['region=ellipse:0,0,100%25,100%25'] * 64)),
    'a decoder': ('progressive', '/blur?sigma=0.5'),
    'a turned picture': ('turned', f'/pipeline?ops={RAGGED}'),
    'a progressive encoder': ('jpeg', '/pixelate?block=2&progressive=true&quality=100'),
    'a patch': ('jpeg', '/sharpen?sigma=16&region=0,0,99%25,99%25&progressive=true'),
}


@pytest.mark.parametrize('kind', KINDS)
def test_work_ends_soon_after_the_limit(start, bodies, kind):
    body, target = KINDS[kind]
    limit = LIMIT / 3 if kind in ('one convolve', 'polygons', 'a decoder') else LIMIT
    own = start('--work-timeout', f'{int(1000 * limit)}ms', '--workers', 1, '--max-pixels', 20000000)
    took = []

    def ask():
        before = cpu_seconds(own)
        answer = own.post(target, bodies[body])
        took.append(cpu_seconds(own) - before)
        return answer

    answer = check_late(ask)
    assert max(took) < (2 * LIMIT + 0.1) * daemon.SLOW
    assert answer.elapsed.total_seconds() < 10 * LIMIT * daemon.SLOW
    assert own.post('/blur', pictures.small_png()).status_code == 200
