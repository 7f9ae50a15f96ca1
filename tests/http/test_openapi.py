# SPDX-License-Identifier: MIT
"""GET /openapi.json: the description of the interface. tests/api asks the daemon for all that stands in it."""

import gzip
import json
import re

import pytest
import requests

import daemon
import pictures
import wire
from problems import TITLES

METHODS = ('get', 'head', 'post', 'put', 'delete', 'patch', 'options', 'trace')

PARTS = ('image', 'regions', 'mask')  # of a form, beside fields


@pytest.fixture(scope='module')
def document(shared):
    return shared.get('/openapi.json').json()


def resolve(document, node):
    """The target of a $ref; any other value is returned."""
    for name in node['$ref'].split('/')[1:] if '$ref' in node else ():
        document = document[name]
    return document if '$ref' in node else node


def references(node):
    if isinstance(node, list):
        return [found for item in node for found in references(item)]
    if not isinstance(node, dict):
        return []
    return [*([node['$ref']] if '$ref' in node else []), *(found for item in node.values() for found in references(item))]


def test_references_name_components(document):
    """Generators follow no others: into a parameter's schema, say."""
    found = set(references(document))
    assert len(found) > 60 and all(re.fullmatch(r'#/components/\w+/[\w.-]+', one) for one in found)
    assert all(resolve(document, {'$ref': one}) for one in found)


def filters(item):
    """Whether the path takes a picture by itself; /verify takes a form alone."""
    return 'post' in item and len(item['post']['requestBody']['content']) > 1


def test_query_and_form_share_their_schemas(document):
    for item in document['paths'].values():
        for form in ([item['post']['requestBody']['content']['multipart/form-data']['schema']] if filters(item) else ()):
            rows = [resolve(document, row) for row in item['post']['parameters']]
            queries = {row['name']: row['schema'] for row in rows if row['in'] == 'query'}
            assert queries == {name: schema for name, schema in form['properties'].items() if name not in PARTS}


def test_every_answer_tells_caches(document):
    answers = [resolve(document, answer) for item in document['paths'].values() for operation in item.values() for answer in operation['responses'].values()]
    assert len(answers) > 200 and all('Cache-Control' in answer['headers'] for answer in answers)


def test_the_page(server):
    answer = server.get('/openapi.json')
    assert answer.status_code == 200 and answer.headers['Content-Type'] == 'application/json'
    assert answer.headers['Cache-Control'] == 'no-cache' and re.fullmatch('"[0-9a-f]{16}-gzip"', answer.headers['ETag'])
    assert answer.json()['openapi'].startswith('3.1.')
    assert server.get('/openapi.json').content == answer.content


def test_what_the_client_has_is_not_sent_again(server):
    tag = server.get('/openapi.json').headers['ETag']
    for known in (tag, f'W/{tag}', f'"other", {tag}', '*'):
        answer = server.get('/openapi.json', headers={'If-None-Match': known})
        assert answer.status_code == 304 and not answer.content and answer.headers['ETag'] == tag
        assert 'Content-Type' not in answer.headers
    for unknown in ('"other"', '', 'x'):
        assert server.get('/openapi.json', headers={'If-None-Match': unknown}).status_code == 200


@pytest.mark.parametrize('coding', ('gzip', 'gzip, deflate, br', 'br;q=1, gzip;q=0.2', 'GZIP', '*', 'identity;q=0, gzip'))
def test_compressed_when_asked(server, coding):
    plain = server.get('/openapi.json', headers={'Accept-Encoding': 'identity'})
    for method in ('GET', 'HEAD'):
        with server.connect() as connection:
            connection.send(wire.message(method, '/openapi.json', headers=[('Accept-Encoding', coding)]))
            answer = connection.answer(head=method == 'HEAD')
        assert answer.status == 200 and answer.header('Content-Encoding') == 'gzip' and answer.header('Vary') == 'Accept-Encoding'
        assert answer.header('ETag') == plain.headers['ETag'][:-1] + '-gzip"'
        assert int(answer.header('Content-Length')) < len(plain.content) / 4
        assert method == 'HEAD' or gzip.decompress(answer.body) == plain.content
    both = [('Accept-Encoding', coding), ('If-None-Match', answer.header('ETag')), 'Connection: close']
    answer = server.raw(wire.message('GET', '/openapi.json', headers=both))[0]
    assert answer.status == 304 and not answer.body and answer.header('Vary') == 'Accept-Encoding' and answer.header('Content-Encoding') is None


@pytest.mark.parametrize('coding', ('', 'br', 'gzip;q=0', 'gzip;q=0, *', 'identity', 'x-gzip', '*;q=0'))
def test_plain_when_not_asked(server, coding):
    answer = server.raw(wire.message('GET', '/openapi.json', headers=[('Accept-Encoding', coding), 'Connection: close']))[0]
    assert answer.header('Content-Encoding') is None and answer.header('Vary') == 'Accept-Encoding' and json.loads(answer.body)


def test_head(server):
    page = server.get('/openapi.json')
    answer = requests.head(server.url('/openapi.json'), timeout=20)
    assert answer.status_code == 200 and answer.headers['ETag'] == page.headers['ETag']
    assert answer.headers['Content-Length'] == page.headers['Content-Length']


def test_printed_without_a_daemon(start):
    code, printed, _ = daemon.run('--help-openapi')
    assert code == 0 and json.loads(printed) == start().get('/openapi.json').json()


def test_every_path_and_method(server, document):
    """Every named path exists, with these methods and no others."""
    assert len(document['paths']) >= 12
    for path, item in document['paths'].items():
        for method in METHODS:
            answer = requests.request(method, server.url(path.format(filter='blur')), timeout=20)
            assert (answer.status_code == 405) == (method not in item), (path, method)
            if answer.status_code == 405:
                assert sorted(answer.headers['Allow'].lower().split(', ')) == sorted(item)


def test_parameters_are_those_that_are_taken(server, document):
    for path, item in document['paths'].items():
        if not filters(item):
            continue
        rows = [resolve(document, row) for row in item['post']['parameters']]
        names = [row['name'] for row in rows if row['in'] == 'query']
        assert names == server.post(f'{path}?nonsense=1', b'x').json()['detail'].split(' takes ')[1].split(', ')
        form = item['post']['requestBody']['content']['multipart/form-data']['schema']['properties']
        assert list(form) == ['image', *names, *(() if path == '/detect' else ('regions', 'mask'))]


def test_defaults_are_what_holds_without(server, document):
    """Given explicitly, they change nothing."""
    for path, item in document['paths'].items():
        if not filters(item) or path in ('/pipeline', '/convolve', '/resize'):
            continue
        rows = [resolve(document, row) for row in item['post']['parameters']]
        schemas = {row['name']: resolve(document, row['schema']) for row in rows}
        given = {name: json.dumps(schema['default']).strip('"') for name, schema in schemas.items() if 'default' in schema}
        assert len(given) >= 3
        needed = {'region': '2,2,9,9'} if path == '/redact' else {}
        assert server.post(path, pictures.small_jpeg(), params=given | needed).content == server.post(path, pictures.small_jpeg(), params=needed).content


def test_problems(document):
    types = document['components']['schemas']['Problem']['properties']['type']['enum']
    assert sorted(t.rsplit(':', 1)[1] for t in types) == sorted([*TITLES, 'internal'])


def test_what_depends_on_options(start, tmp_path):
    (tmp_path / 'tokens').write_text('a-token-for-this-test\n')
    own = start('--token-file', tmp_path / 'tokens', '--max-body', '3MiB', '--admin-listen', '127.0.0.1', '--admin-port', 0)
    page = own.get('/openapi.json').json()  # needs no token
    assert page['components']['securitySchemes']['bearer']['scheme'] == 'bearer'
    assert all('401' in item['post']['responses'] for item in page['paths'].values() if 'post' in item)
    assert page['components']['schemas']['Picture']['maxLength'] == 3 << 20
    assert page['x-limits']['max_body']['value'] == '3MiB'
    assert '/metrics' not in page['paths'] and '/livez' in page['paths']
