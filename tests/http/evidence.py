# SPDX-License-Identifier: MIT
"""Keys that sign reports, answers in parts, and forms for /verify."""

import base64
import importlib.util
import json
import subprocess

import daemon

SIDES = (155, 107)  # of usual pictures
REGION = 'region=32,16,48,40'
TYPE = 'application/vnd.blurd.redaction+json'


def example(name):
    """A module of docs/examples."""
    spec = importlib.util.spec_from_file_location(name, daemon.ROOT / f'docs/examples/{name}.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_key(folder, name='2026-11', kind='ed25519'):
    path = folder / f'{name}.pem'
    subprocess.run(['openssl', 'genpkey', '-algorithm', kind, '-out', path], check=True, capture_output=True)
    return path


def public(path):
    """The line of a trusted key."""
    code, out, _ = daemon.run('--report-key', str(path), '--report-public-key')
    assert code == 0
    return out


def parts(answer):
    """The report and the picture of an answer."""
    assert answer.status_code == 200, answer.text
    found = example('redact_report').parts(answer)
    assert list(found) == ['report', 'answer']
    return found['report'], found['answer']


def verify(server, report, answer, original=None, mask=None):
    named = (('report', report), ('answer', answer), ('input', original), ('mask', mask))
    return server.post('/verify', files={name: (name, data) for name, data in named if data is not None})


def content(report):
    return json.loads(base64.b64decode(json.loads(report)['payload']))
