# SPDX-License-Identifier: MIT
"""What docs/compatibility.md promises: tests/check/facts.py notices what is gone, and reports and plans of earlier versions are taken.

stored/ has been made by 1.0.0, and stays as it is. Its key's private half is gone. The commands, where D is the address of `blurd --report-key stored.pem`:

    openssl genpkey -algorithm ed25519 -out stored.pem && blurd --report-key stored.pem --report-public-key > keys
    blurd run 'resize?width=320&quality=60&metadata=strip' docs/pictures/hidden/astronaut.jpg -o picture.jpg
    Q='region=ellipse:40,20,48,40&region=200.5,60,30,24&detect=faces,text,persons'
    curl -H 'Accept: application/json' --data-binary @picture.jpg "D/redact?$Q&report=true"      whose `report` and `answer` are report.json and answer.jpg
    curl --data-binary @picture.jpg "D/redact?$Q&plan=true" -o plan.json
"""

import copy
import io
import json
import sys

import pytest
from PIL import Image

import daemon
import evidence
from problems import check_problem

sys.path.insert(0, str(daemon.ROOT / 'tests/check'))
import facts  # noqa: E402
import stable  # noqa: E402

STORED = daemon.ROOT / 'tests/http/stored'
REPORT, ANSWER, PICTURE, PLAN = ((STORED / name).read_bytes() for name in ('report.json', 'answer.jpg', 'picture.jpg', 'plan.json'))


# --- reports and plans ------------------------------------------------------------------------
def test_a_stored_report(start):
    """The signature and the answer hold for each version; the redaction is done again by the build that is named alone."""
    own = start('--report-trust', STORED / 'keys')
    verdict = evidence.verify(own, REPORT, ANSWER).json()
    assert (verdict['verified'], verdict['key'], verdict['report']) == (True, 'stored', evidence.content(REPORT))
    assert verdict['report']['program']['version'] == '1.0.0' and len(verdict['report']['redacted']['regions']) > 4
    for name, altered in (('report', REPORT.replace(b'"sig":"', b'"sig":"A', 1)), ('answer', ANSWER[:-3] + b'x' + ANSWER[-2:])):
        assert evidence.verify(own, **{'report': REPORT, 'answer': ANSWER, name: altered}).status_code in (400, 422), name
    check_problem(evidence.verify(own, REPORT, PICTURE), 'not-verified', 'answer', 'not the file')


def test_a_stored_report_by_the_command():
    trust = ('verify', '--report-trust', STORED / 'keys', STORED / 'report.json')
    code, out, said = daemon.run(*trust, STORED / 'answer.jpg')
    assert code == 0 and json.loads(out)['key'] == 'stored', said
    assert daemon.run(*trust, STORED / 'picture.jpg')[0] == 1


def test_a_stored_plan(server):
    """It hides what it lists, in its own picture alone."""
    answer = server.post('/redact', files={'image': ('p', PICTURE), 'regions': (None, PLAN)})
    assert answer.status_code == 200 and answer.headers['X-Regions'] == str(len(json.loads(PLAN)['regions'])), answer.text[:300]
    assert {entry['origin'] for entry in json.loads(PLAN)['regions']} == {'region', 'found'}
    with Image.open(io.BytesIO(answer.content)) as picture:
        assert all(max(picture.convert('RGB').getpixel(place)) < 16 for place in ((64, 40), (215, 72), (150, 100), (250, 150)))
    other = server.post('/redact', files={'image': ('p', ANSWER), 'regions': (None, PLAN)})
    check_problem(other, 'bad-parameter', 'regions', 'the list is for another picture')


# --- what the lists notice --------------------------------------------------------------------
DESCRIBED = json.loads(daemon.run('--help-openapi')[1])
MARKDOWN, HELP = (daemon.run(flag)[1] for flag in ('--help-markdown', '--help'))
ABOUT = (facts.paths, facts.parameters, facts.schemas, facts.headers)


def told(document):
    return {line for about in ABOUT for line in about(document)}


def changed(change):
    document = copy.deepcopy(DESCRIBED)
    change(document)
    return facts.compared(told(DESCRIBED), told(document))


def form(document, path='/redact'):
    return document['paths'][path]['post']['requestBody']['content']['multipart/form-data']['schema']


def schema(document, name):
    return document['components']['schemas'][name]


def renamed(table, name):
    table[name + '2'] = table.pop(name)


def answers(document, path='/blur'):
    return document['paths'][path]['post']['responses']


def without_header(document, name):
    for methods in document['paths'].values():
        for operation in methods.values():
            for answer in operation['responses'].values():
                answer.get('headers', {}).pop(name, None)


BROKEN = {
    'status changed': (lambda d: answers(d).update({'201': answers(d).pop('200')}), 'POST /blur: answers 200'),
    'errors gone': (lambda d: [answers(d).pop(status) for status in list(answers(d)) if status != '200'], 'POST /blur: answers 400'),
    'error renamed': (lambda d: renamed(d['components']['responses'], '422'), 'answer 422'),
    'problem has another status': (lambda d: d['components']['responses']['400'].update(description='Wrong.'), 'answer 400 may be bad-parameter'),
    'type of an answer gone': (lambda d: answers(d)['200']['content'].pop('image/png'), 'POST /blur: answers 200 as image/png: binary'),
    'header gone': (lambda d: without_header(d, 'X-Faces'), 'POST /blur: answers 200 with X-Faces'),
    'picture renamed': (lambda d: renamed(form(d)['properties'], 'image'), 'POST /redact: part image: Picture'),
    'mask gone': (lambda d: form(d)['properties'].pop('mask'), 'POST /redact: part mask: Mask'),
    'part has to be there': (lambda d: form(d)['required'].append('mask'), 'POST /redact: part mask: may be left out'),
    'method gone': (lambda d: d['paths']['/livez'].pop('head'), 'HEAD /livez: head_livez'),
    'parameter renamed': (lambda d: d['components']['parameters']['blur.sigma'].update(name='radius'), 'blur.sigma: sigma in query'),
    'default changed': (lambda d: schema(d, 'BlurSigma').update(default=2), 'BlurSigma: default 1.5'),
    'member of an array gone': (lambda d: schema(d, 'Envelope')['properties']['signatures']['items']['properties'].pop('sig'), 'Envelope.signatures[].sig: string'),
    'another of them': (lambda d: schema(d, 'Readiness')['properties']['backends']['items']['properties'].pop('state'), 'Readiness.backends[].state: string'),
    'inner member gone': (lambda d: schema(d, 'Version')['properties']['formats']['properties'].pop('reads'), 'Version.formats.reads: array'),
    'inner member changed': (lambda d: schema(d, 'ReportedJson')['properties']['answer']['properties']['base64'].update(type='array'),
                             'ReportedJson.answer.base64: string'),
    'items changed': (lambda d: schema(d, 'Boxes')['properties']['faces'].update(items={'type': 'string'}), 'Boxes.faces[]: Box'),
    'alternative gone': (lambda d: schema(d, 'RedactionJson')['anyOf'].pop(), 'RedactionJson: ReportedJson'),
    'member not always there': (lambda d: schema(d, 'Boxes')['required'].remove('width'), 'Boxes.width: always there'),
    'member of a list has to be there': (lambda d: schema(d, 'RegionList')['required'].append('unit'), 'RegionList.unit: may be left out'),
    'fewer regions': (lambda d: schema(d, 'Region').update(maxItems=1), 'Region: maxItems 64'),
    'lower maximum': (lambda d: schema(d, 'BlurSigma').update(maximum=499.5), 'BlurSigma: maximum 500'),
    'higher minimum': (lambda d: schema(d, 'BlurSigma').update(minimum=0.2), 'BlurSigma: minimum 0.1'),
    'limit where none was': (lambda d: schema(d, 'Mask').update(maxLength=9), 'Mask: maxLength 9'),
    'a pattern where any text was': (lambda d: schema(d, 'RegionList')['properties']['labels']['items'].update(pattern='^a$'), 'RegionList.labels[]: any text'),
    'value gone': (lambda d: schema(d, 'BlurEdge')['enum'].remove('wrap'), 'BlurEdge: value wrap'),
    'schema renamed': (lambda d: renamed(d['components']['schemas'], 'Detect'), 'Detect: string'),
    'kind of a header changed': (lambda d: d['components']['headers']['X-Regions'].update(schema={'type': 'string'}), 'X-Regions: integer'),
}
FINE = {
    'wider limits': lambda d: schema(d, 'BlurSigma').update(minimum=0.05, maximum=1000),
    'no limit': lambda d: schema(d, 'BlurSigma').pop('maximum'),
    'more regions': lambda d: schema(d, 'Region').update(maxItems=128),
    'another path': lambda d: d['paths'].update({'/new': d['paths']['/blur']}),
    'another part': lambda d: form(d)['properties'].update(new={'type': 'string', 'maxLength': 5}),
    'another member': lambda d: schema(d, 'Box')['properties'].update(new={'type': 'number', 'minimum': 0}),
    'another value': lambda d: schema(d, 'BlurEdge')['enum'].append('new'),
    'another status': lambda d: answers(d).update({'418': {'description': 'New.'}}),
    'a pattern of an answer': lambda d: schema(d, 'Box')['properties']['label'].update(pattern='^.*$'),
    'a member that is always there now': lambda d: schema(d, 'Box')['required'].append('label'),
    'other notes': lambda d: (schema(d, 'Region').update({'x-default': 'all'}), d.update({'x-new': 1}), answers(d)['200'].update(description='The picture, blurred.')),
}


@pytest.mark.parametrize('name', BROKEN)
def test_what_is_gone_is_noticed(name):
    change, line = BROKEN[name]
    assert line in changed(change)[0]


@pytest.mark.parametrize('name', FINE)
def test_more_is_fine(name):
    broken, new, wider = changed(FINE[name])
    assert not broken and (new or wider or name in ('other notes', 'a pattern of an answer'))


def test_options_that_are_gone_are_noticed():
    old = set(facts.options(MARKDOWN, HELP))

    def broken(before, after):
        assert before in MARKDOWN + HELP
        return facts.compared(old, set(facts.options(MARKDOWN.replace(before, after), HELP.replace(before, after))))[0]
    assert broken('| `--recursive`, `-r` |', '| `--recursively`, `-r` |') == {'blurd run --recursive, -r, default `false`'}
    assert broken('  --check-config\n', '  --check\n') == {'blurd --check-config'}
    assert 'body_timeout: maximum 1h' in broken('`10s` | from 10ms to 1h', '`10s` | from 10ms to 59m')
    assert 'connections: minimum 1' in broken('from 1 to 65536 connections', 'from 2 to 65536 connections')
    assert 'log_format: value json' in broken('one of text, json', 'one of text')
    assert not broken('`10s` | from 10ms to 1h', '`10s` | from 1ms to 61m') and not broken('one of text, json', 'one of text, json, xml')


def test_the_chart_may_give_other_resources():
    rows = [('`resources`', '`{}`'), ('`tls`', '`""`')]
    old = set(facts.chart(rows))
    assert not facts.compared(old, set(facts.chart([('`resources`', '`{"a":1}`'), rows[1]])))[0]
    assert facts.compared(old, set(facts.chart([rows[0], ('`tls`', '`x`')])))[0] == {'`tls` default `""`'}


def test_a_list_takes_more_and_loses_nothing(tmp_path):
    path, old = tmp_path / 'list.txt', {'a: integer', 'a: maximum 5', 'b: string'}
    assert len(stable.held(path, old)) == 3 and not stable.held(path, old, write=True) and not stable.held(path, old)
    more = {'a: integer', 'a: maximum 6', 'b: string', 'c: string'}
    assert len(stable.held(path, more)) == 3 and path.read_text().split('\n')[:-1] == sorted(old)
    assert not stable.held(path, more, write=True) and path.read_text().split('\n')[:-1] == sorted(more)
    for less in (more - {'c: string'}, more - {'a: maximum 6'} | {'a: maximum 4'}):
        for write in (False, True):
            assert ['is gone, changed or a narrower limit' in line for line in stable.held(path, less, write)] == [True] * (1 + ('a: maximum 4' in less))
        assert path.read_text().split('\n')[:-1] == sorted(more)
        assert not stable.held(path, less, True, True) and not stable.held(path, less)
        assert not stable.held(path, more, True, True)
