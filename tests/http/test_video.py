# SPDX-License-Identifier: MIT
"""The lines of docs/video.md, as they stand there, with ffmpeg around a daemon."""

import re
import shlex
import subprocess

import numpy
import pytest

import daemon
import ffmpeg

pytestmark = ffmpeg.needed
WIDTH, HEIGHT, FRAMES = 320, 180, 50
PAGE = (daemon.ROOT / 'docs/video.md').read_text()


def by_shell(server, folder, query):
    """Runs the lines; whether each part of them succeeded."""
    found = re.search(r'^    (ffmpeg .* out\.mp4)$', PAGE, re.M | re.S)
    line = found.group(1).replace('localhost:8080', f'127.0.0.1:{server.port}').replace('redact?detect=faces&quality=92', query)
    line = f'ffmpeg() {{ {shlex.quote(str(ffmpeg.PROGRAM))} "$@"; }}; {line}'
    return subprocess.run(('bash', '-o', 'pipefail', '-c', line), cwd=folder, check=False, timeout=100 * daemon.SLOW).returncode == 0


@pytest.fixture
def video(tmp_path):
    """Two seconds with sound."""
    ffmpeg.run('-f', 'lavfi', '-i', f'testsrc=size={WIDTH}x{HEIGHT}:rate=25:duration=2', '-f', 'lavfi', '-i', 'sine=duration=2',
               '-c:v', 'mpeg4', '-c:a', 'aac', tmp_path / 'in.mp4')
    return tmp_path


def test_the_lines_of_the_page(server, video):
    assert by_shell(server, video, 'redact?region=10,10,100,60')
    grey = ffmpeg.run('-i', video / 'out.mp4', '-map', '0:v', '-f', 'rawvideo', '-pix_fmt', 'gray', '-')
    frames = numpy.frombuffer(grey, numpy.uint8).reshape(-1, HEIGHT, WIDTH)
    assert len(frames) == FRAMES
    assert frames[:, 15:65, 15:105].max() < 24 < frames[:, 80:].max(axis=(1, 2)).min(), 'black in every frame, and there alone'
    assert ffmpeg.run('-i', video / 'out.mp4', '-map', '0:a', '-f', 's16le', '-')


def test_a_failure_is_told(server, video):
    """The shell knows that the video is not whole."""
    assert not by_shell(server, video, 'blur?sigma=900')
