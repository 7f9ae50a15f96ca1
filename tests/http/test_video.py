# SPDX-License-Identifier: MIT
"""The lines of docs/video.md, as they stand there, with ffmpeg around a daemon."""

import re
import shutil
import subprocess

import pytest

import daemon

pytestmark = pytest.mark.skipif(not (shutil.which('ffmpeg') and shutil.which('curl')), reason='no ffmpeg: apt-get install ffmpeg')
PAGE = (daemon.ROOT / 'docs/video.md').read_text()


def ffmpeg(*arguments):
    done = subprocess.run(('ffmpeg', '-v', 'error', '-y', *map(str, arguments)), capture_output=True, text=True, timeout=100 * daemon.SLOW, check=False)
    assert done.returncode == 0, done.stderr


def streams_of(path):
    """Kind, frames and size of each stream."""
    entries = 'stream=codec_type,width,height,nb_read_frames'
    shown = subprocess.run(('ffprobe', '-v', 'error', '-count_frames', '-show_entries', entries, '-of', 'compact=p=0', path),
                           capture_output=True, text=True, timeout=100, check=True).stdout
    return [dict(pair.split('=') for pair in line.split('|')) for line in shown.split()]


def lines(server, query):
    found = re.search(r'^    (ffmpeg .* out\.mp4)$', PAGE, re.M | re.S)
    return found.group(1).replace('localhost:8080', f'127.0.0.1:{server.port}').replace('redact?detect=faces&quality=92', query)


@pytest.fixture
def video(tmp_path):
    """Two seconds with sound."""
    ffmpeg('-f', 'lavfi', '-i', 'testsrc=size=320x180:rate=25:duration=2', '-f', 'lavfi', '-i', 'sine=duration=2', '-c:v', 'mpeg4', '-c:a', 'aac', tmp_path / 'in.mp4')
    return tmp_path


def test_the_lines_of_the_page(server, video):
    subprocess.run(('bash', '-o', 'pipefail', '-c', lines(server, 'redact?region=10,10,100,60')), cwd=video, check=True, timeout=100 * daemon.SLOW)
    picture, sound = streams_of(video / 'out.mp4')
    assert picture == {'codec_type': 'video', 'width': '320', 'height': '180', 'nb_read_frames': '50'} and sound['codec_type'] == 'audio'
    ffmpeg('-i', video / 'out.mp4', '-vf', 'crop=90:50:15:15', '-f', 'rawvideo', '-pix_fmt', 'gray', video / 'hidden.raw')
    hidden = (video / 'hidden.raw').read_bytes()
    assert len(hidden) == 50 * 90 * 50 and max(hidden) < 24, 'black in every frame'


def test_a_failure_is_told(server, video):
    """The shell knows that the video is not whole."""
    done = subprocess.run(('bash', '-o', 'pipefail', '-c', lines(server, 'blur?sigma=900')), cwd=video, check=False, timeout=100 * daemon.SLOW, capture_output=True)
    assert done.returncode != 0
