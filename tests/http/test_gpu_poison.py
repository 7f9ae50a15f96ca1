# SPDX-License-Identifier: MIT
"""`check_gpu --poison` with the driver for tests."""

import pathlib
import re
import subprocess

import pytest

import daemon
import fake_gpu

BUILD = pathlib.Path(daemon.BINARY).parent
pytestmark = [fake_gpu.needed, pytest.mark.skipif(BUILD.name != 'release', reason='the same program in every build')]


def run(**settings):
    environment = {**fake_gpu.settings(**settings), 'CUDA_LIBRARY': str(fake_gpu.LIBRARY), 'SEED': '5'}
    done = subprocess.run([BUILD / 'tests/gpu/check_gpu', '--quick', '--poison', '--filter', 'pixelate', '--share', '0/16'], capture_output=True,
                          text=True, timeout=60 * daemon.SLOW, env=environment, check=False)
    return done.returncode, done.stdout + done.stderr


def test_before_launches_and_in_memory():
    status, output = run()
    done = re.search(r'^poison before (\d+) launches, in (\d+) reservations of memory$', output, re.M)
    assert status == 0 and int(done[1]) > 0 and int(done[2]) > 0, output


def test_it_shows_what_a_kernel_left_out():
    """pixelate_sums writes sums, which another kernel reads."""
    status, output = run(IDLE='pixelate_sums')
    assert status == 1 and re.search(r'^\d+ passed, [1-9]\d* failed$', output, re.M), output
