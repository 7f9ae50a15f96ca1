# SPDX-License-Identifier: MIT
"""ffmpeg, of a package of PyPI that `config/pypi.sh video` brings, or of the host."""

import os
import shutil
import subprocess

import pytest

import daemon

PROGRAM = next((daemon.ROOT / 'build/video/python/imageio_ffmpeg/binaries').glob('ffmpeg-*'), None) or shutil.which('ffmpeg')
needed = pytest.mark.skipif(not PROGRAM and os.environ.get('CI') != 'true', reason='no ffmpeg: config/pypi.sh video')


def run(*arguments, body=None):
    """What it writes to its standard output."""
    done = subprocess.run((PROGRAM, '-v', 'error', '-y', *map(str, arguments)), input=body, capture_output=True, timeout=100 * daemon.SLOW, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout
