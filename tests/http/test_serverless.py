# SPDX-License-Identifier: MIT
"""docs/serverless.md: blocks that are marked as run are run, and the variables that it sets are options."""

import copy
import io
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

import pytest
from PIL import Image

import daemon
import pictures

PAGE = (daemon.ROOT / 'docs/serverless.md').read_text()


def blocks(mark):
    return [re.sub('^    ', '', block, flags=re.M) for block in re.findall(rf'<!-- {mark} -->\n\n((?:    .*\n)+)', PAGE)]


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize('block', blocks('run'), ids=('PORT', 'systemd'))
def test_a_block_as_it_stands(block, tmp_path):
    """Replaces only the port, which may be in use on this machine."""
    for program in re.findall(r'^(systemd\S+|curl)\b', block, re.M):
        if not shutil.which(program):
            pytest.skip(f'{program} is not installed')
    (tmp_path / 'photo.jpg').write_bytes(pictures.jpeg(pictures.photograph(640, 480)))
    (tmp_path / 'bin').mkdir()
    (tmp_path / 'bin/blurd').symlink_to(pathlib.Path(daemon.BINARY).resolve())
    environment = daemon.clean_environment(PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    done = subprocess.run(['bash', '-c', 'set -e\n' + block.replace('8080', str(free_port()))], cwd=tmp_path, env=environment,
                          capture_output=True, text=True, timeout=60 * daemon.SLOW, check=False)
    assert done.returncode == 0, done.stderr
    assert 'no request for 2000 ms' in done.stderr
    with Image.open(io.BytesIO((tmp_path / 'blurred.jpg').read_bytes())) as picture:
        assert picture.size == (640, 480)


def test_the_drop_in(tmp_path):
    block, = blocks('drop-in')
    name, value = re.fullmatch(r'\[Service\]\nEnvironment=(\w+)=(\w+)\n', block).groups()
    code, output, log = daemon.run('--check-config', environment=daemon.clean_environment(**{name: value}))
    assert code == 0 and 'idle_exit = 10m' in output, log
    if not shutil.which('systemd-analyze'):
        pytest.skip('systemd is not installed')
    for unit in ('blurd.service', 'blurd.socket'):
        text = (daemon.ROOT / 'docker/systemd' / unit).read_text().replace('/usr/local/bin/blurd', '/bin/true')
        (tmp_path / unit).write_text(text)
    (tmp_path / 'blurd.service.d').mkdir()
    (tmp_path / 'blurd.service.d/idle.conf').write_text(block)
    done = subprocess.run(['systemd-analyze', 'verify', '--man=no', str(tmp_path / 'blurd.service')], capture_output=True, text=True, timeout=60, check=False)
    assert not [line for line in done.stderr.splitlines() if 'blurd' in line or 'idle' in line], done.stderr


def test_a_socket_is_enough_for_the_service():
    """A daemon that ends by itself stays down until the socket wakes it, and boots do not start it."""
    text = (daemon.ROOT / 'docker/systemd/blurd.service').read_text()
    assert 'Restart=on-failure\n' in text and 'Requires=blurd.socket\n' in text


def test_what_platforms_set_are_options():
    found = dict(re.findall(r'\bBLURD_(\w+)=(\w+)', PAGE))
    assert len(found) >= 6
    code, _, log = daemon.run('--check-config', environment=daemon.clean_environment(**{f'BLURD_{name}': value for name, value in found.items()}))
    assert code == 0, log


# --- Knative ----------------------------------------------------------------------------------------
MODELS = daemon.ROOT / 'build/knative/python'
MAKE_SCHEMA = '''
import json, sys
from cloudcoil.models.knative_serving.serving.v1 import Service
json.dump(Service.model_json_schema(by_alias=True), sys.stdout)
'''


@pytest.fixture(scope='module')
def knative_faults():
    """A function that lists what Knative's serving schema finds in a Service. Its fields are all that there are, which the models leave open."""
    if not MODELS.is_dir():
        pytest.skip('run config/pypi.sh knative')
    jsonschema = pytest.importorskip('jsonschema', reason='run config/pypi.sh kubernetes, and pytest by tests/python.sh')
    made = subprocess.run([sys.executable, '-c', MAKE_SCHEMA], stdout=subprocess.PIPE, timeout=60, check=True, env={'PYTHONPATH': str(MODELS)})
    schema = json.loads(made.stdout)
    for part in (schema, *schema['$defs'].values()):
        if 'properties' in part:
            part['additionalProperties'] = False
    validator = jsonschema.Draft202012Validator(schema)
    return lambda service: ['/'.join(map(str, fault.path)) for fault in validator.iter_errors(service)]


def test_knatives_own_schema(knative_faults):
    yaml = pytest.importorskip('yaml', reason='python3-yaml is not installed')
    service = yaml.safe_load((daemon.ROOT / 'docker/kubernetes/knative/service.yaml').read_text())
    assert knative_faults(service) == []
    for change in (lambda spec: spec.update(containerConcurency=3), lambda spec: spec.update(timeoutSeconds='x'),
                   lambda spec: spec['containers'][0].update(readynessProbe={}), lambda spec: spec.update(hostNetwork=1)):
        wrong = copy.deepcopy(service)
        change(wrong['spec']['template']['spec'])
        assert knative_faults(wrong)
