# SPDX-License-Identifier: MIT
"""/verify and `blurd verify`: what of a report does not hold, keys, and programs that have nothing of blurd (docs/examples)."""

import base64
import hashlib
import json
import os
import subprocess
import sys

import nacl.exceptions
import nacl.signing
import pytest

import daemon
import evidence
import faces
import pictures
from problems import check_problem


def sign_again(key, text, kind=evidence.TYPE, name='2026-11'):
    """A report of other text with the right signature."""
    pem = subprocess.run(['openssl', 'pkey', '-in', key, '-outform', 'DER'], check=True, capture_output=True).stdout
    sealed = b'DSSEv1 %d %s %d %s' % (len(kind), kind.encode(), len(text), text)
    signature = nacl.signing.SigningKey(pem[-32:]).sign(sealed).signature
    return json.dumps({'payloadType': kind, 'payload': base64.b64encode(text).decode(),
                       'signatures': [{'keyid': name, 'sig': base64.b64encode(signature).decode()}]}).encode()


def test_an_independent_program(signing, report_key, reported, tmp_path):
    """docs/examples/verify_report.py, which has nothing of blurd."""
    report, answer, body = reported
    names = [tmp_path / name for name in ('keys', 'report.json', 'redacted.png', 'photo.png')]
    for name, data in zip(names, (evidence.public(report_key).encode(), report, answer, body)):
        name.write_bytes(data)
    command = [sys.executable, daemon.ROOT / 'docs/examples/verify_report.py']
    done = subprocess.run([*command, *names], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == evidence.content(report)
    names[2].write_bytes(answer + b'\0')
    assert subprocess.run([*command, *names], capture_output=True, check=False).returncode == 1
    assert evidence.verify(signing, report, answer, body).json()['report'] == evidence.content(report)


@faces.needed
def test_a_program_that_redacts(signing, report_key, tmp_path):
    """docs/examples/redact_report.py, and the other one after it."""
    names = [tmp_path / name for name in ('photo.jpg', 'safe.jpg', 'report.json', 'keys')]
    names[0].write_bytes(faces.encoded(faces.composed((500, 332), faces.PLACES)))
    names[3].write_text('# ours\n\n' + evidence.public(report_key))
    command = [sys.executable, daemon.ROOT / 'docs/examples/redact_report.py', *names[:3]]
    environment = {**os.environ, 'BLURD_URL': signing.url('')}
    done = subprocess.run([*command, 'faces'], capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    check = [sys.executable, daemon.ROOT / 'docs/examples/verify_report.py', names[3], names[2], names[1], names[0]]
    assert json.loads(subprocess.run(check, capture_output=True, check=True).stdout)['detectors'][0]['found'] == 6
    done = subprocess.run([*command, 'nothing'], capture_output=True, check=False, env=environment)
    assert done.returncode == 1 and b'detect is nothing' in done.stderr


def test_each_altered_byte_is_found(signing, report_key, reported):
    """Of the report: by PyNaCl and by /verify. JSON is free in blanks alone, which are no part of what is signed."""
    report, answer, body = reported
    check, keys = evidence.example('verify_report').verify, evidence.public(report_key)
    assert check(keys, report, answer, body)
    places = range(len(report)) if not daemon.SANITIZED else range(0, len(report), 13)
    for at in places:
        altered = report[:at] + bytes((report[at] ^ 1,)) + report[at + 1:]
        with pytest.raises((ValueError, KeyError, nacl.exceptions.BadSignatureError)):
            check(keys, altered, answer, body)
        assert evidence.verify(signing, altered, answer).status_code in (400, 422), at
    for at in range(0, len(answer), len(answer) // 40):
        altered = answer[:at] + bytes((answer[at] ^ 1,)) + answer[at + 1:]
        check_problem(evidence.verify(signing, report, altered), 'not-verified', 'answer', 'the answer is not the file that the report is about')
        altered = body[:at] + bytes((body[at] ^ 1,)) + body[at + 1:]
        check_problem(evidence.verify(signing, report, answer, altered), 'not-verified', 'input', 'the input is not the file')


@pytest.mark.parametrize('what, changed', (
    ('a region', lambda said: said['redacted']['regions'][0].update(width=40)),
    ('a region less', lambda said: said['redacted'].update(regions=[{'x': 0, 'y': 0, 'width': 9, 'height': 9}])),
    ('another fill', lambda said: said['parameters'].append({'name': 'fill', 'value': 'ffffff'})),
    ('the other side', lambda said: said['redacted'].update(invert=True)),
))
def test_doing_it_again_finds_what_is_stated_wrongly(signing, report_key, reported, what, changed):
    """Even when it was signed: the answer has to follow from what the report states."""
    report, answer, body = reported
    said = evidence.content(report)
    changed(said)
    forged = sign_again(report_key, json.dumps(said).encode())
    assert evidence.verify(signing, forged, answer).status_code == 200, what
    check_problem(evidence.verify(signing, forged, answer, body), 'not-verified', 'input', 'done again, gives another picture')


@pytest.mark.parametrize('name, value', (('fill', {'kind': 'ring', 'bits': 0}), ('outside', 'encoded'), ('answer', {'width': 9}), ('input', {'format': 'jpeg'})))
def test_what_else_is_stated_wrongly(signing, report_key, reported, name, value):
    report, answer, body = reported
    said = evidence.content(report)
    said[name] = {**said[name], **value} if isinstance(value, dict) else value
    text = json.dumps(said, separators=(',', ':')).encode()
    check_problem(evidence.verify(signing, sign_again(report_key, text), answer, body), 'not-verified', 'report', f'what the report says of {name} is not so')


def test_parts_of_no_bytes(signing, reported):
    """An empty input is none that was checked."""
    report, answer, _ = reported
    for name in ('input', 'mask'):
        given = {'report': report, 'answer': answer, name: b''}
        check_problem(signing.post('/verify', files={part: (part, data) for part, data in given.items()}), 'bad-parameter', name, f'{name} is empty')
    check_problem(evidence.verify(signing, report, answer, mask=b'x'), 'bad-parameter', 'mask', 'the redaction had none')


def test_answers_that_show_more(signing, report_key):
    """A report with the right signature about an answer in which less is hidden."""
    body = pictures.png(pictures.photograph(*evidence.SIDES))
    report, _ = evidence.parts(signing.post(f'/redact?{evidence.REGION}&report=true', body))
    said = evidence.content(report)
    said['answer']['sha256'] = hashlib.sha256(body).hexdigest()
    check_problem(evidence.verify(signing, sign_again(report_key, json.dumps(said).encode()), body, body), 'not-verified', 'input', 'another picture')


def test_keys(signing, report_key, reported, tmp_path, start):
    report, answer, _ = reported
    text = base64.b64decode(json.loads(report)['payload'])
    other = evidence.make_key(tmp_path, '2026-12')
    check_problem(evidence.verify(signing, sign_again(other, text), answer), 'not-verified', 'report', 'not what the key 2026-11 signed')
    check_problem(evidence.verify(signing, sign_again(other, text, name='2026-12'), answer), 'not-verified', 'report', 'no key of the name 2026-12 is trusted (--report-trust)')
    check_problem(evidence.verify(signing, sign_again(report_key, text, kind='text/plain'), answer), 'bad-parameter', 'report', 'no DSSE envelope of the type')
    trusting = tmp_path / 'trusted'
    trusting.write_text('# keys\n\n' + evidence.public(report_key))
    rotated = start('--report-key', other, '--report-trust', trusting)
    assert evidence.verify(rotated, report, answer).json()['key'] == '2026-11'
    new, picture = evidence.parts(rotated.post(f'/redact?{evidence.REGION}&report=true', pictures.png(pictures.photograph(*evidence.SIDES))))
    assert evidence.verify(rotated, new, picture).json()['key'] == '2026-12'
    plain = start()
    check_problem(evidence.verify(plain, report, answer), 'not-verified', 'report', 'no key of the name 2026-11 is trusted')
    check_problem(plain.post(f'/redact?{evidence.REGION}&report=true', b'x'), 'bad-parameter', 'report', 'this server signs no reports, as it has no key')


def test_a_reload_brings_another_key(report_key, tmp_path, start):
    """By its name: the file of the configuration changes."""
    other = evidence.make_key(tmp_path, 'new')
    config = tmp_path / 'blurd.conf'
    (tmp_path / '2026-11.pem').write_bytes(report_key.read_bytes())
    config.write_text(f'report_key = {tmp_path}/2026-11.pem\n')
    server = start('--config', config)
    body = pictures.png(pictures.photograph(*evidence.SIDES))
    old, picture = evidence.parts(server.post(f'/redact?{evidence.REGION}&report=true', body))
    (tmp_path / 'trusted').write_text(evidence.public(report_key))
    config.write_text(f'report_key = {other}\nreport_trust = {tmp_path}/trusted\n')
    server.signal(daemon.signal.SIGHUP)
    server.wait_for_line('configuration reloaded')
    new, _ = evidence.parts(server.post(f'/redact?{evidence.REGION}&report=true', body))
    assert json.loads(new)['signatures'][0]['keyid'] == 'new'
    assert evidence.verify(server, old, picture).status_code == 200


@pytest.mark.parametrize('name, text, says', (
    ('key.pem', 'nonsense', 'holds no private key in PEM'),
    ('a key.pem', '', "the key's name"),
    ('missing/key.pem', None, 'cannot read'),
))
def test_wrong_keys(tmp_path, name, text, says):
    if text is not None:
        (tmp_path / name).write_text(text)
    code, _, said = daemon.run('--report-key', tmp_path / name)
    assert code == 78 and says in said and 'PRIVATE' not in said


def test_other_kinds_of_keys(tmp_path):
    code, _, said = daemon.run('--report-key', evidence.make_key(tmp_path, 'other', 'x25519'))
    assert code == 78 and 'holds no Ed25519 key; `openssl genpkey' in said


@pytest.mark.parametrize('text, says', (('name', 'line 1: there must be'), ('name AAAA', 'line 1: there must be'), ('n/a ' + 'A' * 43 + '=', 'line 1'),
                                        ('# fine\n' + 'k' * 64 + ' ' + 'A' * 43 + '=', 'line 2'), ('a ' + 'A' * 43 + '=\na ' + 'E' * 43 + '=', 'another key of the name a'),
                                        ('x' * 500, 'line 1 is too long')))
def test_wrong_trusted_keys(tmp_path, text, says):
    (tmp_path / 'keys').write_text(text)
    code, _, said = daemon.run('--report-trust', tmp_path / 'keys')
    assert code == 78 and says in said


def test_the_command(report_key, reported, tmp_path):
    report, answer, body = reported
    names = {name: tmp_path / name for name in ('report', 'answer', 'input', 'keys')}
    for name, data in zip(names.values(), (report, answer, body, evidence.public(report_key).encode())):
        name.write_bytes(data)
    trust = ('verify', '--report-trust', names['keys'])
    code, out, said = daemon.run(*trust, names['report'], names['answer'], names['input'])
    assert code == 0 and json.loads(out)['redone'] is True, said
    assert daemon.run('--report-trust', names['keys'], '--verify', names['report'], names['answer'])[0] == 0
    names['empty'] = tmp_path / 'empty'
    names['empty'].write_bytes(b'')
    code, _, said = daemon.run(*trust, names['report'], names['answer'], names.pop('empty'))
    assert code == 1 and 'input is empty' in said
    code, _, said = daemon.run(*trust, '--max-pixels', '100', names['report'], names['answer'], names['input'])
    assert code == 1 and 'the limit' in said
    code, _, said = daemon.run('verify', '--report-key', report_key, names['report'], names['answer'])  # it signs nothing, and trusts what it is told to
    assert code == 1 and 'no key of the name' in said
    assert daemon.run('verify', '--report-trust', tmp_path / 'nowhere', names['report'], names['answer'])[0] == 75
    for name, value in (('DRAIN_DELAY', '1m'), ('TOKEN_FILE', '/nowhere'), ('MEMORY', '64MiB'), ('TLS_CERT', '/nowhere'), ('REPORT_KEY', '/nowhere')):
        extra = {f'BLURD_{name}': value} | ({'BLURD_TLS_KEY': '/nowhere'} if name == 'TLS_CERT' else {})
        assert daemon.run(*trust, names['report'], names['answer'], environment=daemon.clean_environment(**extra))[0] == 0, name
    code, out, said = daemon.run(*trust, names['report'], names['input'])
    assert (code, out) == (1, '') and said == 'blurd: not verified: the answer is not the file that the report is about: its sha256 differs\n'
    assert daemon.run(*trust, names['report'], names['answer'], names['answer'])[0] == 1
    code, _, said = daemon.run('verify', names['report'], names['answer'])
    assert code == 1 and 'no key of the name' in said
    for wrong in ((), (names['report'],), (names['report'], tmp_path / 'nothing'), (*names.values(), names['report'])):
        code, _, said = daemon.run(*trust, *wrong)
        assert code == 64 and ('verify takes 2 to 4 files' in said or 'cannot open' in said)


@pytest.mark.parametrize('files, parameter, says', (
    ({}, 'answer', 'answer is missing'),
    ({'answer': b''}, 'answer', 'answer is empty'),
    ({'answer': b'x', 'picture': b'x'}, 'picture', 'unknown part; verify takes report, answer, input and mask'),
))
def test_forms(signing, reported, files, parameter, says):
    parts = {'report': reported[0], **files}
    check_problem(signing.post('/verify', files={name: (name, data) for name, data in parts.items()}), 'bad-parameter', parameter, says)


def test_no_form(signing, reported):
    check_problem(signing.post('/verify', reported[0]), 'bad-parameter', 'report', 'takes a form')
    check_problem(signing.post('/verify?fill=mean', reported[0]), 'bad-parameter', 'query', 'verify takes no parameters')
    check_problem(signing.post('/blur?report=true', reported[2]), 'bad-parameter', 'report', 'unknown parameter')


@pytest.mark.parametrize('text, says', (('[]', 'no DSSE'), ('{}', 'no DSSE'), ('{"payloadType":"%s","payload":"!!","signatures":[]}' % evidence.TYPE, 'no DSSE'),
                                        ('{"payloadType":"%s","payload":"e30=","signatures":[{"keyid":5}]}' % evidence.TYPE, 'no DSSE')))
def test_broken_envelopes(signing, text, says):
    check_problem(evidence.verify(signing, text.encode(), b'x'), 'bad-parameter', 'report', says)


def test_no_signature(signing):
    check_problem(evidence.verify(signing, b'{"payloadType":"%s","payload":"e30=","signatures":[]}' % evidence.TYPE.encode(), b'x'), 'not-verified', 'report', 'no signature')


@pytest.mark.parametrize('change, says', (
    (lambda said: said.update(report=2), 'it is of version 2, this program reads version 1'),
    (lambda said: said.pop('redacted'), 'its text has no redacted'),
    (lambda said: said.update(parameters=[{'name': 'sigma', 'value': '3'}]), 'it cannot be done again: unknown parameter'),
    (lambda said: said.update(redacted={'regions': 5}), 'it cannot be done again: regions'),
    (lambda said: said['redacted'].update(threshold=.5), "a report's list has no rules"),
    (lambda said: said['redacted']['regions'].append({'box': [1, 1, 9, 9], 'keep': True}), "a report's list has no rules"),
    (lambda said: said['answer'].update(format='bmp'), 'it cannot be done again: format is'),
))
def test_reports_that_this_program_does_not_know(signing, report_key, reported, change, says):
    report, answer, body = reported
    said = evidence.content(report)
    change(said)
    check_problem(evidence.verify(signing, sign_again(report_key, json.dumps(said).encode()), answer, body), 'bad-parameter', 'report', says)
