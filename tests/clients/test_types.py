# SPDX-License-Identifier: MIT
"""What type checkers say of the clients, that the wheel is the same each time, and the manual's own lines."""

import hashlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import daemon
import inputs
import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
PACKAGES = ROOT / 'build/clients/python'
MANUAL = ROOT / 'clients/python/README.md'
TIME_LIMIT = 240


def test_mypy(package, tmp_path):
    """The package, and lines that use it in the right way and wrong ones."""
    path = os.pathsep.join(one for one in (str(PACKAGES), *sys.path) if one != str(package))
    environment = {**os.environ, 'PYTHONPATH': path, 'MYPYPATH': str(package)}
    if subprocess.run([sys.executable, '-c', 'import mypy.main, numpy'], env=environment, capture_output=True, check=False).returncode:
        pytest.skip('no mypy and numpy: types were not checked; config/pypi.sh clients gets it')
    command = [sys.executable, '-m', 'mypy', '--strict', '--cache-dir', tmp_path, HERE / 'usage.py', *(package / 'blurd').glob('*.py')]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=TIME_LIMIT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif('WHEEL' in os.environ, reason='another wheel is tested')
def test_the_wheel_has_the_same_bytes_each_time(tmp_path):
    digests = set()
    for name in ('one', 'other'):
        done = subprocess.run([ROOT / 'clients/python/build.sh', tmp_path / name], env={**os.environ, 'BLURD': daemon.BINARY}, check=False, stdout=subprocess.DEVNULL)
        assert done.returncode == 0
        wheel, = (tmp_path / name).iterdir()
        digests.add(hashlib.sha256(wheel.read_bytes()).hexdigest())
    assert len(digests) == 1


def blocks():
    """The manual's lines of Python, block by block, each with what the ones before have defined."""
    return re.findall(r'^```python\n(.*?)^```', MANUAL.read_text(), re.M | re.S)


def test_the_manual_runs(client, url, photo, tmp_path, monkeypatch):
    if not client.version().text:
        pytest.skip('this daemon finds no text')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('BLURD_URL', url)
    for name in ('photo.jpg', 'photos/a.jpg', 'photos/b.jpg'):
        pathlib.Path(name).parent.mkdir(exist_ok=True)
        pathlib.Path(name).write_bytes(photo)
    pathlib.Path('photos/broken.jpg').write_bytes(inputs.gradient()[:100])
    with tarfile.open('photos.tar', 'w') as tar:
        tar.add('photos')
    names = {'__name__': 'manual'}
    found = blocks()
    for block in found:
        if 'numpy' in block and not importlib.util.find_spec('numpy'):
            continue
        exec(compile(block.replace('http://localhost:8080', url), str(MANUAL), 'exec'), names)
    assert len(found) >= 6 and pathlib.Path('safe.jpg').read_bytes() and pathlib.Path('report.json').read_bytes()


# --- TypeScript ----------------------------------------------------------------------------

USES = """
import { call } from './sample'
declare const file: Blob
export async function uses() {
  const blurred: Blob = await call('', 'blur', file, { sigma: 8, edge: 'mirror', region: ['0,0,9,9'], regions: { regions: [{ box: [0, 0, 9, 9] }] } })
  const width: number = (await call('', 'stats', file, {})).width
  const found: number | undefined = (await call('', 'detect', file, { detect: 'faces,text' })).faces?.[0].score
  const plan = await call('', 'redact_plan', file, { plan: true, detect: 'faces' })
  const safe: Blob = await call('', 'redact', file, { regions: plan })
  const signed: string = (await call('', 'redact_report', file, { report: true, detect: 'faces' })).report.signatures[0].sig
  // @ts-expect-error
  await call('', 'blur', file, { sigma: 'much' })
  // @ts-expect-error
  await call('', 'blur', file, { edge: 'none' })
  // @ts-expect-error
  await call('', 'blur', file, { sigmas: 8 })
  // @ts-expect-error
  await call('', 'pipeline', file, {})
  // @ts-expect-error
  await call('', 'smooth', file, {})
  // @ts-expect-error
  const text: string = (await call('', 'stats', file, {})).width
  return [blurred, width, found, safe, signed, text, await call('', 'rotate', file, { angle: 90 })]
}
"""
RUN = """
const { call } = require('./sample.js'), { readFileSync, writeFileSync } = require('fs')
async function main() {
  const file = new Blob([readFileSync('photo.jpg')])
  writeFileSync('blurred.jpg', Buffer.from(await (await call(process.argv[2], 'blur', file, { sigma: 3, region: ['0,0,9,9', '9,9,9,9'] })).arrayBuffer()))
  const wrong = await call(process.argv[2], 'blur', file, { sigma: 0 }).catch(error => error)
  const report = await call(process.argv[2], 'redact_report', file, { report: true, regions: { regions: [{ box: [0, 0, 9, 9] }] } })
  console.log(JSON.stringify([(await call(process.argv[2], 'stats', file, {})).width, wrong.problem.parameter, report.answer.type]))
}
main()
"""


@pytest.fixture(scope='module')
def compiled(tmp_path_factory):
    """A folder with the types, and the sample in JavaScript."""
    if not shutil.which('tsc'):
        pytest.skip('no tsc: types of TypeScript were not checked; config/packages.sh test gets it')
    folder = tmp_path_factory.mktemp('typescript')
    document = subprocess.check_output([daemon.BINARY, '--help-openapi'])
    types = subprocess.check_output([sys.executable, ROOT / 'clients/typescript/generate.py'], input=document)
    (folder / 'blurd.d.ts').write_bytes(types)
    shutil.copy(ROOT / 'clients/typescript/sample.ts', folder)
    (folder / 'uses.ts').write_text(USES)
    (folder / 'run.js').write_text(RUN)
    command = ['tsc', '--strict', '--target', 'es2020', '--module', 'commonjs', '--lib', 'es2020,dom,dom.iterable', 'uses.ts', 'blurd.d.ts']
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=TIME_LIMIT)
    assert done.returncode == 0, done.stdout
    return folder


def test_the_compiler_takes_the_types(compiled):
    types = (compiled / 'blurd.d.ts').read_text()
    assert 'export interface RedactParameters {' in types and 'any' not in re.findall(r': (\w+)', types)


def test_the_sample_runs(compiled, server, url, photo):
    if not shutil.which('node') or int(subprocess.check_output(['node', '-p', 'parseInt(process.versions.node)'])) < 18:
        pytest.skip('no node from 18 on: the sample was not run')
    (compiled / 'photo.jpg').write_bytes(photo)
    done = subprocess.run(['node', 'run.js', url], cwd=compiled, capture_output=True, text=True, check=False, timeout=60 * daemon.SLOW)
    assert done.returncode == 0, done.stderr
    assert (compiled / 'blurred.jpg').read_bytes() == server.post('/blur?sigma=3&region=0,0,9,9&region=9,9,9,9', photo).content
    width, parameter, kind = json.loads(done.stdout)
    assert width > 100 and parameter == 'sigma' and kind == 'image/jpeg'
