# SPDX-License-Identifier: MIT
"""report=true: what a signed report says, and that the redaction that it states gives the picture again. test_verify.py has the checks."""

import base64
import hashlib
import json

import numpy
import pytest

import daemon
import evidence
import fake_gpu
import faces
import foreign
import pictures
import writing
from problems import check_problem


def test_what_it_says(signing, reported):
    report, answer, body = reported
    said = evidence.content(report)
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
    body = pictures.png(pictures.photograph(*evidence.SIDES))
    parts = signing.post(f'/redact?{evidence.REGION}&report=true', body, headers={'Accept': '*/*'})
    for accept in ('application/json', 'image/png, application/json;q=0.5'):
        answer = signing.post(f'/redact?{evidence.REGION}&report=true', body, headers={'Accept': accept})
        assert answer.status_code == 200 and answer.headers['Content-Type'] == 'application/json'
        picture = base64.b64decode(answer.json()['answer']['base64'])
        assert answer.json()['answer']['type'] == 'image/png' and picture == evidence.parts(parts)[1]
        assert evidence.verify(signing, json.dumps(answer.json()['report']).encode(), picture, body).json()['redone'] is True
    refused = signing.post(f'/redact?{evidence.REGION}&report=true', body, headers={'Accept': 'application/json;q=0, */*'})
    assert refused.headers['Content-Type'].startswith('multipart/mixed')


@pytest.mark.parametrize('query, bits', (('&fill=mean', 12), ('&fill=tiles', 12), ('&fill=ring', 0), ('&fill=ff0000', 0)))
def test_bits_of_a_fill(signing, query, bits):
    report, _ = evidence.parts(signing.post(f'/redact?{evidence.REGION}&report=true{query}', pictures.png(pictures.photograph(*evidence.SIDES))))
    assert evidence.content(report)['fill']['bits'] == bits


def test_what_is_outside(signing):
    jpeg = pictures.jpeg(pictures.photograph(*evidence.SIDES), 90, subsampling='420')
    for query, wanted in (('', 'blocks'), ('&quality=70', 'encoded'), ('&format=png', 'pixels'), ('&format=webp', 'encoded'),
                          ('&format=webp&lossless=true', 'pixels')):
        report, answer = evidence.parts(signing.post(f'/redact?{evidence.REGION}&report=true{query}', jpeg))
        assert evidence.content(report)['outside'] == wanted
        assert evidence.verify(signing, report, answer, jpeg).json()['redone'] is True


@faces.needed
def test_detectors(signing):
    body = faces.encoded(faces.composed((500, 332), faces.PLACES))
    report, answer = evidence.parts(signing.post('/redact?detect=faces&report=true', body))
    said = evidence.content(report)
    digest = hashlib.sha256(faces.MODEL.read_bytes()).hexdigest()
    assert said['detectors'] == [{'name': 'faces', 'threshold': 0.3, 'found': 6, 'model_sha256': digest}]
    assert len(said['redacted']['regions']) == 6 and said['redacted']['regions'][0]['label'] == 'face'
    assert answer == signing.post('/redact?detect=faces', body).content
    verdict = evidence.verify(signing, report, answer, body).json()
    assert (verdict['verified'], verdict['key'], verdict['input'], verdict['redone']) == (True, '2026-11', True, True)
    report, answer = evidence.parts(signing.post('/redact?detect=faces&detect_effort=high&report=true', body))
    assert evidence.content(report)['detectors'] == said['detectors'] and evidence.verify(signing, report, answer, body).json()['redone'] is True


@writing.needed
def test_detectors_of_one_network(signing):
    """Of each the threshold that held, with all digits, and the same model."""
    body = writing.png(writing.letter()[0])
    said = evidence.content(evidence.parts(signing.post('/redact?detect=text,plates&detect_threshold=plates:0.3123456789,0.7&report=true', body))[0])
    digest = hashlib.sha256(writing.MODEL.read_bytes()).hexdigest()
    assert [(one['name'], one['threshold'], one['model_sha256']) for one in said['detectors']] == [('text', 0.7, digest), ('plates', 0.3123456789, digest)]


def test_a_form_with_list_and_mask(signing):
    """Its fields are parameters of the report; its mask is asked for again."""
    body = pictures.png(pictures.photograph(*evidence.SIDES))
    mask = pictures.png((numpy.arange(155) > 140).astype(numpy.uint8)[None, :, None] * numpy.full((107, 1, 1), 255, numpy.uint8))
    answer = signing.post('/redact', {'fill': 'ring', 'report': 'true', 'regions': json.dumps([{'ellipse': [5, 6, 30.25, 40]}])},
                          files={'image': ('p.png', body), 'mask': ('m.png', mask)})
    report, picture = evidence.parts(answer)
    said = evidence.content(report)
    assert {'name': 'fill', 'value': 'ring'} in said['parameters'] and said['mask']['sha256'] == hashlib.sha256(mask).hexdigest()
    assert said['redacted']['regions'] == [{'ellipse': [5, 6, 30.25, 40], 'origin': 'list'}]
    assert evidence.verify(signing, report, picture, body, mask).json()['redone'] is True
    check_problem(evidence.verify(signing, report, picture, body), 'bad-parameter', 'mask', 'mask is missing')
    check_problem(evidence.verify(signing, report, picture, body, body), 'not-verified', 'mask', 'the mask is not the file')


def test_the_other_side(signing):
    """With invert the regions are what stays, and the list says so."""
    body = pictures.png(pictures.photograph(*evidence.SIDES))
    report, answer = evidence.parts(signing.post(f'/redact?{evidence.REGION}&invert=true&report=true', body))
    assert evidence.content(report)['redacted']['invert'] is True and evidence.verify(signing, report, answer, body).json()['redone'] is True
    listed = signing.post('/redact', files={'image': ('p', body), 'regions': ('r', json.dumps(evidence.content(report)['redacted']))})
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
    assert evidence.verify(signing, report, answer, body).json()['redone'] is True
    plan = signing.post(f'/redact?{query}&plan=true', body)
    rest = '&'.join(word for word in query.split('&') if not word.startswith('detect'))
    assert signing.post(f'/redact?{rest}', files={'image': ('p', body), 'regions': ('r', plan.content)}).content == answer


def test_what_is_outside_of_deep_pictures(signing):
    body = pictures.png(pictures.photograph(*evidence.SIDES).astype(int) * 257 + 3, depth=16)
    for query, wanted in (('', 'pixels'), ('&format=webp&lossless=true', 'encoded')):
        report, _ = evidence.parts(signing.post(f'/redact?{evidence.REGION}&report=true{query}', body))
        assert evidence.content(report)['outside'] == wanted


def test_more_numbers_than_a_list_takes(signing):
    corners = [[40 + 30 * numpy.cos(turn), 40 + 30 * numpy.sin(turn)] for turn in numpy.linspace(0, 6.2, 64)]
    form = {'image': ('p', pictures.png(pictures.photograph(*evidence.SIDES))), 'regions': ('r', json.dumps([{'polygon': corners}] * 64))}
    report, answer = evidence.parts(signing.post('/redact?report=true', files=form))
    assert evidence.verify(signing, report, answer, form['image'][1]).json()['redone'] is True
    check_problem(signing.post(f'/redact?{evidence.REGION}&report=true', files=form), 'limit-exceeded', None, 'more than 8192 numbers')
    assert signing.post(f'/redact?{evidence.REGION}', files=form).status_code == 200


def test_the_schema(reported):
    """docs/api/report.schema.json names all that a report has, and requires what is always there."""
    schema = json.loads((daemon.ROOT / 'docs/api/report.schema.json').read_text())
    said = evidence.content(reported[0])

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
def test_a_gpu(signing, report_key, start):
    """Its picture is read again before it is sent, so that it is in the daemon's own memory; cores verify it."""
    own = fake_gpu.launch(start, '--jpeg-codec', 'gpu', '--gpu-timeout', '60s', '--face-model', faces.MODEL, '--report-key', report_key)
    for body, query in ((pictures.jpeg(pictures.photograph(*evidence.SIDES), 90, subsampling='420'), evidence.REGION),
                        (pictures.png(pictures.photograph(*evidence.SIDES)), f'{evidence.REGION}&fill=ring'),
                        (faces.encoded(faces.composed((500, 332), faces.PLACES)), 'detect=faces')):
        answer = own.post(f'/redact?{query}&report=true', body)
        report, picture = evidence.parts(answer)
        assert answer.headers['X-Backend'].startswith('cuda') and picture == signing.post(f'/redact?{query}', body).content
        assert evidence.verify(signing, report, picture, body).json()['redone'] is True
        same, _ = evidence.parts(signing.post(f'/redact?{query}&report=true', body))
        assert {**evidence.content(report), 'time': ''} == {**evidence.content(same), 'time': ''}
        assert own.post(f'/redact?{query}', body).content == picture
        assert evidence.verify(own, report, picture, body).json()['redone'] is True
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
        said = evidence.content(report)
        seen[of, to, said['outside']] = seen.get((of, to, said['outside']), 0) + 1
        if said['outside'] == 'pixels':
            assert (foreign.read(to, answer)[~inside] == decoded[of][~inside]).all(), (number, of, to, query)
        elif said['outside'] == 'blocks':
            assert (foreign.read(to, answer)[~inside] == foreign.read(of, inputs[of])[~inside]).all(), (number, query)
        assert evidence.verify(signing, report, answer, inputs[of]).json()['redone'] is True, (number, of, to, query)
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
