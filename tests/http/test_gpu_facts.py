# SPDX-License-Identifier: MIT
"""`blurd-bench facts` with the driver for tests: what it prints, and when it fails."""

import os
import pathlib
import re
import subprocess

import pytest

import daemon
import fake_gpu

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(daemon.BINARY).parent
FACTS = re.findall(r'^(FACT|RELIED)\((\w+),\s*"(.*?)",\n? ', (ROOT / 'bench/gpu/facts/facts.def').read_text(), re.M)
# No driver but a real one has these.
LACKING = {'INIT', 'CONTEXT_SECOND', 'COPY_PRIORITY'}


def nvrtc():
    """The folder of the compiler that the build used; None: there was none."""
    paths = re.findall(r'^NVRTC := (\S+)', '\n'.join(path.read_text() for path in (ROOT / 'build/cuda').glob('*/cuda.mk')), re.M)
    return os.path.dirname(paths[0]) if paths else None


pytestmark = [fake_gpu.needed, pytest.mark.skipif(BUILD.name != 'release', reason='the same program in every build'),
              pytest.mark.skipif(not nvrtc(), reason='no NVRTC: the kernels that measure cannot be compiled')]


def run(**settings):
    environment = {**fake_gpu.settings(**settings), 'BLURD_CUDA_LIBRARY': str(fake_gpu.LIBRARY), 'LD_LIBRARY_PATH': nvrtc()}
    done = subprocess.run([BUILD / 'blurd-bench', '--quick', 'facts'], capture_output=True, text=True, timeout=60 * daemon.SLOW, env=environment,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def rows(output):
    """{behaviour: figure}"""
    cells = [line.strip('| ').split(' | ') for line in output.split('### Facts')[1].splitlines() if line.startswith('| ')]
    assert all(len(row) == 4 for row in cells), cells
    return {row[0].removesuffix(' (relied on)'): row[1] for row in cells[1:]}


def test_every_fact_is_measured():
    status, output = run()
    found = rows(output)
    assert status == 0 and list(found) == [behaviour for _, _, behaviour in FACTS], output
    missing = {name for _, name, behaviour in FACTS if found[behaviour].startswith('not measured')}
    assert missing == LACKING, output


def test_a_fact_that_does_not_hold_and_one_that_cannot_be_measured():
    """The driver takes long to give memory back to its pool, and has no graphs. 15 calls are measured; before each, memory goes to the pool."""
    status, output = run(FAULT='cuMemFreeAsync:16:0:15', MISSING='cuGraphCreate')
    found = {name: rows(output)[behaviour] for _, name, behaviour in FACTS}
    assert status == 1 and 'WRONG RESULTS' in output, output
    assert found['WAITS_POOL'].startswith('**does not hold**') and 'cuMemFreeAsync' in found['WAITS'], output
    assert found['GRAPH'] == 'not measured: the driver has no graphs', output
