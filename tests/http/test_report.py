# SPDX-License-Identifier: MIT
"""report=true: a signed statement about a redaction, checked by PyNaCl (docs/examples/verify_report.py), by /verify and by `blurd verify`."""

import base64
import hashlib
import json
import os
import subprocess
import sys

import nacl.exceptions
import nacl.signing
import numpy
import pytest

import daemon
import evidence
import fake_gpu
import faces
import foreign
import pictures
from problems import check_problem

SIDES = (155, 107)
REGION = 'region=32,16,48,40'
TYPE = 'application/vnd.blurd.redaction+json'


@pytest.fixture(scope='module')
def key(tmp_path_factory):
    return evidence.make_key(tmp_path_factory.mktemp('key'))


@pytest.fixture(scope='module')
def signing(key):
    with daemon.Daemon('--report-key', key, '--work-timeout', f'{10 * daemon.SLOW:g}s') as running:
        yield running


@pytest.fixture(scope='module')
def example(signing):
    """A report with its picture, and what it was made of."""
    body = pictures.png(pictures.photograph(*SIDES))
    return (*evidence.parts(signing.post(f'/redact?{REGION}&report=true', body)), body)


def verify(server, report, answer, original=None, mask=None):
    named = (('report', report), ('answer', answer), ('input', original), ('mask', mask))
    return server.post('/verify', files={name: (name, data) for name, data in named if data is not None})


def content(report):
    return json.loads(base64.b64decode(json.loads(report)['payload']))


def sign_again(key, text, kind=TYPE, name='2026-11'):
    """A report of other text with the right signature."""
    pem = subprocess.run(['openssl', 'pkey', '-in', key, '-outform', 'DER'], check=True, capture_output=True).stdout
    sealed = b'DSSEv1 %d %s %d %s' % (len(kind), kind.encode(), len(text), text)
    signature = nacl.signing.SigningKey(pem[-32:]).sign(sealed).signature
    return json.dumps({'payloadType': kind, 'payload': base64.b64encode(text).decode(),
                       'signatures': [{'keyid': name, 'sig': base64.b64encode(signature).decode()}]}).encode()


def test_an_independent_program(signing, key, example, tmp_path):
    """docs/examples/verify_report.py, which has nothing of blurd."""
    report, answer, body = example
    names = [tmp_path / name for name in ('keys', 'report.json', 'redacted.png', 'photo.png')]
    for name, data in zip(names, (evidence.public(key).encode(), report, answer, body)):
        name.write_bytes(data)
    command = [sys.executable, daemon.ROOT / 'docs/examples/verify_report.py']
    done = subprocess.run([*command, *names], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == content(report)
    names[2].write_bytes(answer + b'\0')
    assert subprocess.run([*command, *names], capture_output=True, check=False).returncode == 1
    assert verify(signing, report, answer, body).json()['report'] == content(report)


@faces.needed
def test_a_program_that_redacts(signing, key, tmp_path):
    """docs/examples/redact_report.py, and the other one after it."""
    names = [tmp_path / name for name in ('photo.jpg', 'safe.jpg', 'report.json', 'keys')]
    names[0].write_bytes(faces.encoded(faces.composed((500, 332), faces.PLACES)))
    names[3].write_text('# ours\n\n' + evidence.public(key))
    command = [sys.executable, daemon.ROOT / 'docs/examples/redact_report.py', *names[:3]]
    environment = {**os.environ, 'BLURD_URL': signing.url('')}
    done = subprocess.run([*command, 'faces'], capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    check = [sys.executable, daemon.ROOT / 'docs/examples/verify_report.py', names[3], names[2], names[1], names[0]]
    assert json.loads(subprocess.run(check, capture_output=True, check=True).stdout)['detectors'][0]['found'] == 6
    done = subprocess.run([*command, 'nothing'], capture_output=True, check=False, env=environment)
    assert done.returncode == 1 and b'detect is nothing' in done.stderr


def test_each_altered_byte_is_found(signing, key, example):
    """Of the report: by PyNaCl and by /verify. JSON is free in blanks alone, which are no part of what is signed."""
    report, answer, body = example
    check, keys = evidence.example('verify_report').verify, evidence.public(key)
    assert check(keys, report, answer, body)
    places = range(len(report)) if not daemon.SANITIZED else range(0, len(report), 13)
    for at in places:
        altered = report[:at] + bytes((report[at] ^ 1,)) + report[at + 1:]
        with pytest.raises((ValueError, KeyError, nacl.exceptions.BadSignatureError)):
            check(keys, altered, answer, body)
        assert verify(signing, altered, answer).status_code in (400, 422), at
    for at in range(0, len(answer), len(answer) // 40):
        altered = answer[:at] + bytes((answer[at] ^ 1,)) + answer[at + 1:]
        check_problem(verify(signing, report, altered), 'not-verified', 'answer', 'the answer is not the file that the report is about')
        altered = body[:at] + bytes((body[at] ^ 1,)) + body[at + 1:]
        check_problem(verify(signing, report, answer, altered), 'not-verified', 'input', 'the input is not the file')


def test_what_it_says(signing, example):
    report, answer, body = example
    said = content(report)
    assert said['report'] == 1 and said['program']['name'] == 'blurd' and len(said['program']['build']) >= 40
    assert said['input'] == {'sha256': hashlib.sha256(body).hexdigest(), 'bytes': len(body), 'format': 'png'}
    assert said['answer'] == {'sha256': hashlib.sha256(answer).hexdigest(), 'bytes': len(answer), 'format': 'png', 'width': 155, 'height': 107}
    assert said['parameters'] == [{'name': 'region', 'value': '32,16,48,40'}, {'name': 'report', 'value': 'true'}]
    assert said['fill'] == {'kind': 'colour', 'bits': 0, 'colour': '000000ff'}
    assert said['outside'] == 'pixels' and said['detectors'] == [] and 'mask' not in said
    assert said['redacted']['regions'] == [{'x': 32, 'y': 16, 'width': 48, 'height': 40, 'origin': 'region'}]
    assert said['redacted']['sha256'] == said['input']['sha256']
    assert (said['redacted']['invert'], said['redacted']['planes']) == (False, False)
    assert set(said) == {'report', 'time', 'program', 'input', 'answer', 'parameters', 'detectors', 'fill', 'outside', 'notice', 'redacted'}


def test_in_json(signing):
    """For clients that read no parts; only where Accept names it."""
    body = pictures.png(pictures.photograph(*SIDES))
    parts = signing.post(f'/redact?{REGION}&report=true', body, headers={'Accept': '*/*'})
    for accept in ('application/json', 'image/png, application/json;q=0.5'):
        answer = signing.post(f'/redact?{REGION}&report=true', body, headers={'Accept': accept})
        assert answer.status_code == 200 and answer.headers['Content-Type'] == 'application/json'
        picture = base64.b64decode(answer.json()['answer']['base64'])
        assert answer.json()['answer']['type'] == 'image/png' and picture == evidence.parts(parts)[1]
        assert verify(signing, json.dumps(answer.json()['report']).encode(), picture, body).json()['redone'] is True
    refused = signing.post(f'/redact?{REGION}&report=true', body, headers={'Accept': 'application/json;q=0, */*'})
    assert refused.headers['Content-Type'].startswith('multipart/mixed')


@pytest.mark.parametrize('query, bits', (('&fill=mean', 12), ('&fill=tiles', 12), ('&fill=ring', 0), ('&fill=ff0000', 0)))
def test_bits_of_a_fill(signing, query, bits):
    report, _ = evidence.parts(signing.post(f'/redact?{REGION}&report=true{query}', pictures.png(pictures.photograph(*SIDES))))
    assert content(report)['fill']['bits'] == bits


def test_what_is_outside(signing):
    jpeg = pictures.jpeg(pictures.photograph(*SIDES), 90, subsampling='420')
    for query, wanted in (('', 'blocks'), ('&quality=70', 'encoded'), ('&format=png', 'pixels'), ('&format=webp', 'encoded'),
                          ('&format=webp&lossless=true', 'pixels')):
        report, answer = evidence.parts(signing.post(f'/redact?{REGION}&report=true{query}', jpeg))
        assert content(report)['outside'] == wanted
        assert verify(signing, report, answer, jpeg).json()['redone'] is True


@faces.needed
def test_detectors(signing):
    body = faces.encoded(faces.composed((500, 332), faces.PLACES))
    report, answer = evidence.parts(signing.post('/redact?detect=faces&report=true', body))
    said = content(report)
    digest = hashlib.sha256(faces.MODEL.read_bytes()).hexdigest()
    assert said['detectors'] == [{'name': 'faces', 'threshold': 0.3, 'found': 6, 'model_sha256': digest}]
    assert len(said['redacted']['regions']) == 6 and said['redacted']['regions'][0]['label'] == 'face'
    assert answer == signing.post('/redact?detect=faces', body).content
    verdict = verify(signing, report, answer, body).json()
    assert (verdict['verified'], verdict['key'], verdict['input'], verdict['redone']) == (True, '2026-11', True, True)
    report, answer = evidence.parts(signing.post('/redact?detect=faces&detect_effort=high&report=true', body))
    assert content(report)['detectors'] == said['detectors'] and verify(signing, report, answer, body).json()['redone'] is True


def test_a_form_with_list_and_mask(signing):
    """Its fields are parameters of the report; its mask is asked for again."""
    body = pictures.png(pictures.photograph(*SIDES))
    mask = pictures.png((numpy.arange(155) > 140).astype(numpy.uint8)[None, :, None] * numpy.full((107, 1, 1), 255, numpy.uint8))
    answer = signing.post('/redact', {'fill': 'ring', 'report': 'true', 'regions': json.dumps([{'ellipse': [5, 6, 30.25, 40]}])},
                          files={'image': ('p.png', body), 'mask': ('m.png', mask)})
    report, picture = evidence.parts(answer)
    said = content(report)
    assert {'name': 'fill', 'value': 'ring'} in said['parameters'] and said['mask']['sha256'] == hashlib.sha256(mask).hexdigest()
    assert said['redacted']['regions'] == [{'ellipse': [5, 6, 30.25, 40], 'origin': 'list'}]
    assert verify(signing, report, picture, body, mask).json()['redone'] is True
    check_problem(verify(signing, report, picture, body), 'bad-parameter', 'mask', 'mask is missing')
    check_problem(verify(signing, report, picture, body, body), 'not-verified', 'mask', 'the mask is not the file')


@pytest.mark.parametrize('what, changed', (
    ('a region', lambda said: said['redacted']['regions'][0].update(width=40)),
    ('a region less', lambda said: said['redacted'].update(regions=[{'x': 0, 'y': 0, 'width': 9, 'height': 9}])),
    ('another fill', lambda said: said['parameters'].append({'name': 'fill', 'value': 'ffffff'})),
    ('the other side', lambda said: said['redacted'].update(invert=True)),
))
def test_doing_it_again_finds_what_is_stated_wrongly(signing, key, example, what, changed):
    """Even when it was signed: the answer has to follow from what the report states."""
    report, answer, body = example
    said = content(report)
    changed(said)
    forged = sign_again(key, json.dumps(said).encode())
    assert verify(signing, forged, answer).status_code == 200, what
    check_problem(verify(signing, forged, answer, body), 'not-verified', 'input', 'done again, gives another picture')


@pytest.mark.parametrize('name, value', (('fill', {'kind': 'ring', 'bits': 0}), ('outside', 'encoded'), ('answer', {'width': 9}), ('input', {'format': 'jpeg'})))
def test_what_else_is_stated_wrongly(signing, key, example, name, value):
    report, answer, body = example
    said = content(report)
    said[name] = {**said[name], **value} if isinstance(value, dict) else value
    text = json.dumps(said, separators=(',', ':')).encode()
    check_problem(verify(signing, sign_again(key, text), answer, body), 'not-verified', 'report', f'what the report says of {name} is not so')


def test_parts_of_no_bytes(signing, example):
    """An empty input is none that was checked."""
    report, answer, _ = example
    for name in ('input', 'mask'):
        given = {'report': report, 'answer': answer, name: b''}
        check_problem(signing.post('/verify', files={part: (part, data) for part, data in given.items()}), 'bad-parameter', name, f'{name} is empty')
    check_problem(verify(signing, report, answer, mask=b'x'), 'bad-parameter', 'mask', 'the redaction had none')


def test_the_other_side(signing):
    """With invert the regions are what stays, and the list says so."""
    body = pictures.png(pictures.photograph(*SIDES))
    report, answer = evidence.parts(signing.post(f'/redact?{REGION}&invert=true&report=true', body))
    assert content(report)['redacted']['invert'] is True and verify(signing, report, answer, body).json()['redone'] is True
    listed = signing.post('/redact', files={'image': ('p', body), 'regions': ('r', json.dumps(content(report)['redacted']))})
    assert listed.content == answer


def turned_planes():
    """A JPEG whose planes are filtered as stored, unless it is searched: they cannot be turned as searches need them."""
    body = pictures.jpeg(pictures.stored_as(numpy.asarray(faces.composed((403, 333), faces.PLACES[:4])), 6), 90, subsampling='422')
    return pictures.with_segments(body, pictures.exif_segment(6, extras=False))


@faces.needed
@pytest.mark.parametrize('query', ('detect=faces', 'detect=faces&autorotate=false', 'detect=faces&colorspace=native&fill=mean', 'detect=faces&colorspace=rgb'))
def test_pixels_and_planes(signing, query):
    body = turned_planes()
    report, answer = evidence.parts(signing.post(f'/redact?{query}&report=true', body))
    assert verify(signing, report, answer, body).json()['redone'] is True
    plan = signing.post(f'/redact?{query}&plan=true', body)
    rest = '&'.join(word for word in query.split('&') if not word.startswith('detect'))
    assert signing.post(f'/redact?{rest}', files={'image': ('p', body), 'regions': ('r', plan.content)}).content == answer


def test_what_is_outside_of_deep_pictures(signing):
    body = pictures.png(pictures.photograph(*SIDES).astype(int) * 257 + 3, depth=16)
    for query, wanted in (('', 'pixels'), ('&format=webp&lossless=true', 'encoded')):
        report, _ = evidence.parts(signing.post(f'/redact?{REGION}&report=true{query}', body))
        assert content(report)['outside'] == wanted


def test_more_numbers_than_a_list_takes(signing):
    corners = [[40 + 30 * numpy.cos(turn), 40 + 30 * numpy.sin(turn)] for turn in numpy.linspace(0, 6.2, 64)]
    form = {'image': ('p', pictures.png(pictures.photograph(*SIDES))), 'regions': ('r', json.dumps([{'polygon': corners}] * 64))}
    report, answer = evidence.parts(signing.post('/redact?report=true', files=form))
    assert verify(signing, report, answer, form['image'][1]).json()['redone'] is True
    check_problem(signing.post(f'/redact?{REGION}&report=true', files=form), 'limit-exceeded', None, 'more than 8192 numbers')
    assert signing.post(f'/redact?{REGION}', files=form).status_code == 200


def test_answers_that_show_more(signing, key):
    """A report with the right signature about an answer in which less is hidden."""
    body = pictures.png(pictures.photograph(*SIDES))
    report, _ = evidence.parts(signing.post(f'/redact?{REGION}&report=true', body))
    said = content(report)
    said['answer']['sha256'] = hashlib.sha256(body).hexdigest()
    check_problem(verify(signing, sign_again(key, json.dumps(said).encode()), body, body), 'not-verified', 'input', 'another picture')


def test_keys(signing, key, example, tmp_path, start):
    report, answer, _ = example
    text = base64.b64decode(json.loads(report)['payload'])
    other = evidence.make_key(tmp_path, '2026-12')
    check_problem(verify(signing, sign_again(other, text), answer), 'not-verified', 'report', 'not what the key 2026-11 signed')
    check_problem(verify(signing, sign_again(other, text, name='2026-12'), answer), 'not-verified', 'report', 'no key of the name 2026-12 is trusted (--report-trust)')
    check_problem(verify(signing, sign_again(key, text, kind='text/plain'), answer), 'bad-parameter', 'report', 'no DSSE envelope of the type')
    trusting = tmp_path / 'trusted'
    trusting.write_text('# keys\n\n' + evidence.public(key))
    rotated = start('--report-key', other, '--report-trust', trusting)
    assert verify(rotated, report, answer).json()['key'] == '2026-11'
    new, picture = evidence.parts(rotated.post(f'/redact?{REGION}&report=true', pictures.png(pictures.photograph(*SIDES))))
    assert verify(rotated, new, picture).json()['key'] == '2026-12'
    plain = start()
    check_problem(verify(plain, report, answer), 'not-verified', 'report', 'no key of the name 2026-11 is trusted')
    check_problem(plain.post(f'/redact?{REGION}&report=true', b'x'), 'bad-parameter', 'report', 'this server signs no reports, as it has no key')


def test_a_reload_brings_another_key(key, tmp_path, start):
    """By its name: the file of the configuration changes."""
    other = evidence.make_key(tmp_path, 'new')
    config = tmp_path / 'blurd.conf'
    (tmp_path / '2026-11.pem').write_bytes(key.read_bytes())
    config.write_text(f'report_key = {tmp_path}/2026-11.pem\n')
    server = start('--config', config)
    body = pictures.png(pictures.photograph(*SIDES))
    old, picture = evidence.parts(server.post(f'/redact?{REGION}&report=true', body))
    (tmp_path / 'trusted').write_text(evidence.public(key))
    config.write_text(f'report_key = {other}\nreport_trust = {tmp_path}/trusted\n')
    server.signal(daemon.signal.SIGHUP)
    server.wait_for_line('configuration reloaded')
    new, _ = evidence.parts(server.post(f'/redact?{REGION}&report=true', body))
    assert json.loads(new)['signatures'][0]['keyid'] == 'new'
    assert verify(server, old, picture).status_code == 200


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


def test_the_command(key, example, tmp_path):
    report, answer, body = example
    names = {name: tmp_path / name for name in ('report', 'answer', 'input', 'keys')}
    for name, data in zip(names.values(), (report, answer, body, evidence.public(key).encode())):
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
    code, _, said = daemon.run('verify', '--report-key', key, names['report'], names['answer'])  # it signs nothing, and trusts what it is told to
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
def test_forms(signing, example, files, parameter, says):
    parts = {'report': example[0], **files}
    check_problem(signing.post('/verify', files={name: (name, data) for name, data in parts.items()}), 'bad-parameter', parameter, says)


def test_no_form(signing, example):
    check_problem(signing.post('/verify', example[0]), 'bad-parameter', 'report', 'takes a form')
    check_problem(signing.post('/verify?fill=mean', example[0]), 'bad-parameter', 'query', 'verify takes no parameters')
    check_problem(signing.post('/blur?report=true', example[2]), 'bad-parameter', 'report', 'unknown parameter')


@pytest.mark.parametrize('text, says', (('[]', 'no DSSE'), ('{}', 'no DSSE'), ('{"payloadType":"%s","payload":"!!","signatures":[]}' % TYPE, 'no DSSE'),
                                        ('{"payloadType":"%s","payload":"e30=","signatures":[{"keyid":5}]}' % TYPE, 'no DSSE')))
def test_broken_envelopes(signing, text, says):
    check_problem(verify(signing, text.encode(), b'x'), 'bad-parameter', 'report', says)


def test_no_signature(signing):
    check_problem(verify(signing, b'{"payloadType":"%s","payload":"e30=","signatures":[]}' % TYPE.encode(), b'x'), 'not-verified', 'report', 'no signature')


@pytest.mark.parametrize('change, says', (
    (lambda said: said.update(report=2), 'it is of version 2, this program reads version 1'),
    (lambda said: said.pop('redacted'), 'its text has no redacted'),
    (lambda said: said.update(parameters=[{'name': 'sigma', 'value': '3'}]), 'it cannot be done again: unknown parameter'),
    (lambda said: said.update(redacted={'regions': 5}), 'it cannot be done again: regions'),
    (lambda said: said['redacted'].update(threshold=.5), "a report's list has no rules"),
    (lambda said: said['redacted']['regions'].append({'box': [1, 1, 9, 9], 'keep': True}), "a report's list has no rules"),
    (lambda said: said['answer'].update(format='bmp'), 'it cannot be done again: format is'),
))
def test_reports_that_this_program_does_not_know(signing, key, example, change, says):
    report, answer, body = example
    said = content(report)
    change(said)
    check_problem(verify(signing, sign_again(key, json.dumps(said).encode()), answer, body), 'bad-parameter', 'report', says)


def test_the_schema(example):
    """docs/api/report.schema.json names all that a report has, and requires what is always there."""
    schema = json.loads((daemon.ROOT / 'docs/api/report.schema.json').read_text())
    said = content(example[0])

    def check(value, rule):
        if '$ref' in rule:
            rule = schema['$defs'][rule['$ref'].rsplit('/', 1)[1]]
        kinds = {'object': dict, 'array': list, 'string': str, 'integer': int, 'boolean': bool, 'number': (int, float)}
        assert isinstance(value, kinds[rule['type']]), (value, rule)
        if rule['type'] == 'object':
            assert set(rule.get('required', ())) <= set(value) <= set(rule['properties'])
            for name, member in value.items():
                check(member, rule['properties'][name])
        for item in value if rule['type'] == 'array' else ():
            check(item, rule['items'])

    check(said, schema)


@fake_gpu.needed
@faces.needed
def test_a_gpu(signing, key, start):
    """Its picture is read again before it is sent, so that it is in the daemon's own memory; cores verify it."""
    own = fake_gpu.launch(start, '--jpeg-codec', 'gpu', '--gpu-timeout', '60s', '--face-model', faces.MODEL, '--report-key', key)
    for body, query in ((pictures.jpeg(pictures.photograph(*SIDES), 90, subsampling='420'), REGION),
                        (pictures.png(pictures.photograph(*SIDES)), f'{REGION}&fill=ring'),
                        (faces.encoded(faces.composed((500, 332), faces.PLACES)), 'detect=faces')):
        answer = own.post(f'/redact?{query}&report=true', body)
        report, picture = evidence.parts(answer)
        assert answer.headers['X-Backend'].startswith('cuda') and picture == signing.post(f'/redact?{query}', body).content
        assert verify(signing, report, picture, body).json()['redone'] is True
        same, _ = evidence.parts(signing.post(f'/redact?{query}&report=true', body))
        assert {**content(report), 'time': ''} == {**content(same), 'time': ''}
        assert own.post(f'/redact?{query}', body).content == picture
        assert verify(own, report, picture, body).json()['redone'] is True
    own.stop()


CASES = 1000 if not daemon.SANITIZED else 60


def test_a_thousand_random_redactions(signing, say):
    """Of all pairs of formats: what the report says of the outside holds, and the redaction gives the same bytes again."""
    random = numpy.random.default_rng(53)
    picture = pictures.photograph(96, 72).astype(numpy.uint8)
    inputs = {kind: foreign.write(kind, picture) for kind in foreign.READS if kind in signing.get('/version').json()['formats']['reads']}
    decoded = {kind: foreign.read('png', signing.post('/adjust?format=png', body).content) for kind, body in inputs.items()}
    writes = [kind for kind in foreign.WRITES if kind in signing.get('/version').json()['formats']['writes']]
    seen = {}
    for number in range(CASES):
        of, to = list(inputs)[number % len(inputs)], writes[number // len(inputs) % len(writes)]
        query, inside = random_regions(random)
        lossless = '&lossless=true' if to == 'webp' and random.random() < .5 else ''
        report, answer = evidence.parts(signing.post(f'/redact?{query}&format={to}{lossless}&report=true', inputs[of]))
        said = content(report)
        seen[of, to, said['outside']] = seen.get((of, to, said['outside']), 0) + 1
        if said['outside'] == 'pixels':
            assert (foreign.read(to, answer)[~inside] == decoded[of][~inside]).all(), (number, of, to, query)
        elif said['outside'] == 'blocks':
            assert (foreign.read(to, answer)[~inside] == foreign.read(of, inputs[of])[~inside]).all(), (number, query)
        assert verify(signing, report, answer, inputs[of]).json()['redone'] is True, (number, of, to, query)
    assert {(of, to) for of, to, _ in seen} == {(of, to) for of in inputs for to in writes}
    say(f'{CASES} redactions of {len(inputs)} x {len(writes)} formats; outside: '
        + ', '.join(f'{kind} {sum(count for (_, _, each), count in seen.items() if each == kind)}' for kind in ('blocks', 'pixels', 'encoded')))


REACH = 34  # pixels: a region grows to whole blocks, of up to 16 and beside them as many, and by one that interpolation reaches


def random_regions(random):
    """A query, and what may change."""
    y, x = numpy.mgrid[0:72, 0:96]
    inside, words = numpy.zeros((72, 96), bool), []
    for _ in range(random.integers(1, 4)):
        left, top = random.integers(0, 60), random.integers(0, 40)
        wide, high = random.integers(1, 20), random.integers(1, 16)
        words.append(f'region={random.choice(("", "ellipse:"))}{left},{top},{wide},{high}')
        inside |= (left - REACH <= x) & (x < left + wide + REACH) & (top - REACH <= y) & (y < top + high + REACH)
    return '&'.join((*words, f'fill={random.choice(("000000", "ring", "mean", "tiles", "ff8000"))}')), inside
