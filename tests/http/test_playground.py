# SPDX-License-Identifier: MIT
"""GET / for browsers: the page, its headers, and its table of parameters against the daemon's."""

import base64
import gzip
import hashlib
import json
import re

import pytest

import daemon
import foreign
import pictures
import wire
from problems import check_problem

BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
TABLE = json.loads((daemon.ROOT / 'server/pages/playground/parameters.json').read_text())
ENDPOINTS = tuple(one['name'] for one in TABLE['filters'])


def page(server, *headers, method='GET', target='/', accept=BROWSER):
    with server.connect() as connection:
        given = [('Accept', accept)] if accept else []
        connection.send(wire.message(method, target, headers=[*given, *headers]))
        return connection.answer(head=method == 'HEAD')


def is_page(answer):
    return answer.status == 200 and answer.header('Content-Type') == 'text/html; charset=utf-8'


def test_the_page(server):
    answer = page(server)
    assert is_page(answer) and answer.body.startswith(b'<!DOCTYPE html>')
    assert answer.header('Content-Encoding') is None and answer.header('Cache-Control') == 'no-cache'
    assert answer.header('X-Content-Type-Options') == 'nosniff' and answer.header('X-Frame-Options') == 'DENY'
    assert answer.header('Referrer-Policy') == 'no-referrer' and answer.header('X-Request-Id')
    assert answer.header('Vary') == 'Accept, Accept-Encoding'


def test_nothing_comes_from_elsewhere(server):
    text = page(server).body.decode()
    links = re.findall(r'(?:src|href)\s*=\s*"([^"]*)"|url\("([^"]*)', text)
    assert all(link.startswith(('#', 'data:')) for pair in links for link in pair if link)
    assert set(re.findall(r'https?://[\w./]+', text)) == {'http://www.w3.org/2000/svg'}
    assert not re.search(r'\son\w+\s*=\s*"|\sstyle\s*=\s*"|javascript:|^import |^export ', text, re.M)
    assert 'include:' not in text


def test_the_policy(server):
    answer = page(server)
    policy = dict(part.strip().split(' ', 1) for part in answer.header('Content-Security-Policy').split(';'))
    text = answer.body
    for directive, tag in (('script-src', rb'<script type="module">(.*?)</script>'), ('style-src', rb'<style>(.*?)</style>')):
        (content,) = re.findall(tag, text, re.S)
        assert policy.pop(directive) == f"'sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}'"
    assert policy == {'default-src': "'none'", 'img-src': 'blob: data:', 'connect-src': "'self'", 'base-uri': "'none'",
                      'form-action': "'none'", 'frame-ancestors': "'none'"}


# --- the answers -------------------------------------------------------------------------------
@pytest.mark.parametrize('accept', (BROWSER, 'text/html', 'TEXT/HTML', 'text/html;q=0.1', 'text/plain;q=0.5, text/html;q=0.6'))
def test_browsers_get_the_page(server, accept):
    assert is_page(page(server, accept=accept))


@pytest.mark.parametrize('accept', (None, '*/*', 'text/*', 'text/plain', 'text/plain, text/html', 'text/html;q=0', 'application/json', ';;,', 'x' * 5000))
def test_others_get_text(server, accept):
    answer = page(server, accept=accept)
    assert answer.status == 200 and answer.header('Content-Type') == 'text/plain; charset=utf-8' and b'curl' in answer.body
    assert answer.header('Vary') == 'Accept' and answer.header('Content-Security-Policy') is None


@pytest.mark.parametrize('coding', ('gzip', 'gzip, deflate, br', 'br;q=1, gzip;q=0.2', 'GZIP', '*', 'identity;q=0.5, *;q=0.1'))
def test_compressed(server, coding):
    answer = page(server, ('Accept-Encoding', coding))
    assert is_page(answer) and answer.header('Content-Encoding') == 'gzip'
    assert gzip.decompress(answer.body) == page(server).body
    assert len(answer.body) < 60_000
    assert 'gzip' in answer.header('ETag') and answer.header('Content-Security-Policy')


@pytest.mark.parametrize('coding', ('', 'br', 'gzip;q=0', 'gzip;q=0, *', 'identity', 'x-gzip', '*;q=0', 'gzipped'))
def test_not_compressed(server, coding):
    answer = page(server, ('Accept-Encoding', coding))
    assert is_page(answer) and answer.header('Content-Encoding') is None and answer.body.startswith(b'<!DOCTYPE')


def test_the_tag(server):
    plain, compressed = page(server).header('ETag'), page(server, ('Accept-Encoding', 'gzip')).header('ETag')
    assert re.fullmatch(r'"[0-9a-f]{20}"', plain) and compressed == plain[:-1] + '-gzip"'
    for given in (plain, f'W/{plain}', f'"other", {plain}', '*'):
        with server.connect() as connection:
            connection.send(wire.message('GET', '/', headers=[('Accept', BROWSER), ('If-None-Match', given)]))
            answer = connection.answer()
            assert answer.status == 304 and not answer.body and answer.header('ETag') == plain, given
            assert answer.header('Content-Encoding') is None and answer.header('Vary') and answer.header('Cache-Control')
            connection.send(wire.message('GET', '/livez'))
            assert connection.answer().status == 200
    for given in (compressed, '"other"', plain[1:-1], plain[:-2] + '"', '', 'x' * 5000):
        assert is_page(page(server, ('If-None-Match', given))), given
    assert page(server, ('If-None-Match', compressed), ('Accept-Encoding', 'gzip')).status == 304


def test_head(server):
    got, head = page(server, ('Accept-Encoding', 'gzip')), page(server, ('Accept-Encoding', 'gzip'), method='HEAD')
    differ = {'x-request-id', 'date'}
    assert head.status == 200 and {k: v for k, v in head.headers.items() if k not in differ} == \
        {k: v for k, v in got.headers.items() if k not in differ}


@pytest.mark.parametrize('method', ('POST', 'PUT', 'DELETE', 'OPTIONS'))
def test_other_methods(server, method):
    answer = page(server, method=method)
    check_problem(answer, 'method-not-allowed')
    assert answer.header('Allow') == 'GET, HEAD'


def test_a_query_does_not_matter(server):
    assert is_page(page(server, target='/?from=somewhere'))


# --- options -----------------------------------------------------------------------------------
@pytest.mark.parametrize('off', ('off', 'false'))
def test_switched_off(start, off):
    own = start('--playground', off)
    answer = page(own)
    assert answer.status == 200 and answer.header('Content-Type') == 'text/plain; charset=utf-8' and b'<' not in answer.body


def test_switched_off_while_it_runs(tmp_path, start):
    path = tmp_path / 'blurd.conf'
    path.write_text('playground = on\n')
    own = start('--config', path)
    assert is_page(page(own))
    path.write_text('playground = off\n')
    own.signal(daemon.signal.SIGHUP)
    assert daemon.eventually(lambda: not is_page(page(own)))


def test_without_a_token(tmp_path, start):
    path = tmp_path / 'tokens'
    path.write_text('a-token-for-the-playground\n')
    own = start('--token-file', path)
    assert is_page(page(own))
    check_problem(own.post('/blur', pictures.small_png()), 'unauthorized')


def test_not_on_the_second_listener(start):
    own = start('--admin-listen', '127.0.0.1', '--admin-port', 0)
    port = int(own.wait_for_line(r'health and metrics on port (\d+)').group(1))
    with wire.Wire(port, 10) as connection:
        connection.send(wire.message('GET', '/', headers=[('Accept', BROWSER)]))
        check_problem(connection.answer(), 'not-found')


# --- the table of parameters ---------------------------------------------------------------------
def rows_of(endpoint):
    filters = {one['name']: one for one in TABLE['filters']}
    rows = [*filters[endpoint].get('own', []), *TABLE['input'], *TABLE['region']]
    looks = [look['name'] for look in filters['redact']['looks']]
    redacts = endpoint in ('pipeline', 'placeholder') or 'whole' in filters[endpoint] or endpoint in looks
    redact = TABLE['redact'] if redacts else TABLE['solid'] if endpoint == 'redact' else []
    if 'json' in filters[endpoint]:
        return [row for row in rows if row['name'] != 'feather'] + redact
    return rows + TABLE['output'] + redact


def allowed(row):
    """The sentence by which the daemon refuses a value."""
    if row['type'] == 'choice':
        words = [*row['choices'], *(foreign.WRITES if row['name'] == 'format' else ()), *row.get('also', [])]  # other names of the same are not offered
        return f"it must be {', '.join(words[:-1])} or {words[-1]}"
    if row['type'] == 'colour':
        names = sorted(name for name in row['choices'] if name.isalpha() and name != 'ffffff')
        return f"it must be {', '.join(names)}, or a colour as rrggbb or rrggbbaa"
    if row['type'] == 'switch':
        return 'it must be false, true, 0 or 1'
    whole = ('an odd ' if row.get('odd') else 'a ') + 'whole number ' if row['type'] == 'whole' else ''
    unit = f" {row['unit']}" if row.get('unit') else ''
    end = f" and not nearer to 0 than {row['least']:g}" if row.get('least') else ''
    return f"it must be {whole}from {row['minimum']:.15g} to {row['maximum']:.15g}{unit}{end}"


def test_each_filter_is_in_one_group():
    names = [name for group in TABLE['groups'] for name in group['filters']]
    assert sorted(names) == sorted(ENDPOINTS) and [group['title'] for group in TABLE['groups']] == ['Hide', 'Blur', 'Resize', 'Colours', 'More']
    assert TABLE['groups'][0]['filters'] == ['redact'] and TABLE['filters'][0]['looks'][0] == {'name': 'solid', 'title': 'Solid', 'path': 'redact'}


def test_values_have_words_each():
    rows = [row for one in TABLE['filters'] for row in one.get('own', [])] + [row for name in ('redact', 'solid', 'input', 'region', 'output') for row in TABLE[name]]
    assert all(len(row['words']) == len(row['choices']) for row in rows if 'words' in row)


@pytest.mark.parametrize('endpoint', ENDPOINTS)
def test_the_names_are_those_of_the_daemon(server, endpoint):
    sentence = server.post(f'/{endpoint}?nonsense=1', b'x').json()['detail']
    known = set(sentence.split(' takes ')[1].split(', '))
    ours = [row['name'] for row in rows_of(endpoint)] + TABLE['drawn'] + TABLE['left_out'] + ['ops'] * (endpoint == 'pipeline') + ['plan', 'report'] * (endpoint == 'redact')
    ours = [name for name in ours if name not in ('frames', 'detect_hold', 'png_reduce') or endpoint not in ('placeholder', 'stats')]  # which answer one picture
    assert set(ours) == known and len(ours) == len(known)


@pytest.mark.parametrize('endpoint,row', [(e, row) for e in ENDPOINTS for row in rows_of(e) if row['type'] != 'text'],
                         ids=lambda value: value if isinstance(value, str) else value['name'])
def test_the_values_are_those_of_the_daemon(server, endpoint, row):
    problem = check_problem(server.post(f"/{endpoint}?{row['name']}=nonsense", b'x'), 'bad-parameter', row['name'])
    assert problem['detail'].split(', ', 1)[1] == allowed(row)


@pytest.mark.parametrize('endpoint,row', [(e, row) for e in ENDPOINTS for row in rows_of(e) if e != 'pipeline' and
                                          ('default' in row or row['type'] == 'choice')],
                         ids=lambda value: value if isinstance(value, str) else value['name'])
def test_the_defaults_are_those_of_the_daemon(server, endpoint, row):
    """Given or not, the answer is the same; the first of the choices is the default."""
    body = pictures.png(pictures.photograph(64, 48))
    base = {'convolve': 'kernel=1,2,1&', 'resize': 'width=40&', 'redact': 'region=1,1,30,30&'}.get(endpoint, '')
    default = row.get('default', row.get('choices', [None])[0])
    with_it = server.post(f"/{endpoint}?{base}{row['name']}={default}", body)
    without = server.post(f"/{endpoint}?{base.rstrip('&')}", body)
    assert with_it.status_code == without.status_code == 200 and with_it.content == without.content


def test_the_starts_are_allowed(server):
    body = pictures.small_png()
    for one in TABLE['filters']:
        given = '&'.join(f"{row['name']}={row['start']}" for row in one.get('own', []) if 'start' in row)
        if one['name'] not in ('pipeline', 'redact'):
            assert server.post(f"/{one['name']}?{given}", body).status_code == 200, one['name']
    pipeline = next(one for one in TABLE['filters'] if one['name'] == 'pipeline')
    available = server.post('/pipeline?ops=x', b'x').json()['detail'].split('available: ')[1]
    assert set(pipeline['steps']) == set(re.split(', | and ', available))
    for count, status in ((pipeline['most'], 200), (pipeline['most'] + 1, 400)):
        assert server.post('/pipeline?ops=' + '|'.join(['blur'] * count), body).status_code == status
