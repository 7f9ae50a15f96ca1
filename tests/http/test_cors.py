# SPDX-License-Identifier: MIT
"""cors_origins: pages of listed origins may send pictures and read the answers."""

import re

import pytest
import requests

import certificates
import daemon
import pictures
import wire
from problems import check_problem

SHOP, LOCAL = 'https://shop.example', 'http://localhost:3000'
OTHERS = ('https://shop.example.evil.example', 'https://shop.example:443', 'http://shop.example', 'https://SHOP.example', 'https://shop', 'null', '',
          f'{SHOP},{LOCAL}', f'{SHOP}/', 'x' * 5000, 'localhost:3000')
PREFLIGHT = {'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'authorization,content-type'}


@pytest.fixture(scope='module')
def own():
    with daemon.Daemon('--cors-origins', f'{SHOP}, {LOCAL}') as running:
        yield running


def ask(own, method, target, origin, body=None, **headers):
    given = {**({} if origin is None else {'Origin': origin}), **headers}
    return requests.request(method, own.url(target), data=body, headers=given, timeout=20 * daemon.SLOW)


def cors_headers(answer):
    return {name: value for name, value in answer.headers.items() if name.lower().startswith('access-control-')}


def varies(answer):
    return 'Origin' in re.split(', *', answer.headers.get('Vary', ''))


@pytest.mark.parametrize('origin', (SHOP, LOCAL))
@pytest.mark.parametrize('method,target,status', (('POST', '/blur', 200), ('POST', '/blur?sigma=x', 400), ('POST', '/stats', 200), ('GET', '/nothing', 404),
                                                  ('GET', '/blur', 405), ('GET', '/openapi.json', 200), ('HEAD', '/livez', 200), ('GET', '/', 200)))
def test_pages_of_listed_origins_read_every_answer(own, method, target, status, origin):
    answer = ask(own, method, target, origin, pictures.small_png() if method == 'POST' else None)
    assert answer.status_code == status and varies(answer)
    assert answer.headers['Access-Control-Allow-Origin'] == origin
    assert set(cors_headers(answer)) == {'Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'}


def test_every_header_of_the_description_may_be_read(own):
    exposed = set(ask(own, 'GET', '/livez', SHOP).headers['Access-Control-Expose-Headers'].split(', '))
    described = set(own.get('/openapi.json').json()['components']['headers'])
    assert described - {'Cache-Control', 'Vary', 'X-Content-Type-Options'} == exposed


@pytest.mark.parametrize('origin', (None, *OTHERS), ids=range(len(OTHERS) + 1))
def test_others_are_served_and_may_not_read(own, origin):
    answer = ask(own, 'POST', '/blur?sigma=2', origin, pictures.small_png())
    assert answer.status_code == 200 and not cors_headers(answer) and varies(answer)
    answer = ask(own, 'OPTIONS', '/blur', origin, **PREFLIGHT)
    check_problem(answer, 'method-not-allowed')
    assert not cors_headers(answer) and varies(answer)


def test_two_origins_are_none(own):
    answers = own.raw(wire.message('GET', '/livez', headers=[('Origin', SHOP), ('Origin', SHOP), 'Connection: close']))
    assert answers[0].status == 200 and not [name for name in answers[0].headers if name.startswith('access-control')]


@pytest.mark.parametrize('target,methods', (('/blur', 'POST'), ('/pipeline?ops=x', 'POST'), ('/stats', 'POST'), ('/livez', 'GET, HEAD'), ('/', 'GET, HEAD')))
def test_preflight(own, target, methods):
    answer = ask(own, 'OPTIONS', target, SHOP, **PREFLIGHT)
    assert answer.status_code == 204 and not answer.content and varies(answer)
    assert answer.headers['Access-Control-Allow-Origin'] == SHOP and answer.headers['Access-Control-Allow-Methods'] == methods
    assert {'Authorization', 'Content-Type', 'X-Request-Id', 'If-None-Match'} <= set(answer.headers['Access-Control-Allow-Headers'].split(', '))
    assert int(answer.headers['Access-Control-Max-Age']) > 0


def test_what_is_no_preflight(own):
    check_problem(ask(own, 'OPTIONS', '/blur', SHOP), 'method-not-allowed')
    check_problem(ask(own, 'OPTIONS', '/nothing', SHOP, **PREFLIGHT), 'not-found')
    assert ask(own, 'GET', '/livez', SHOP, **PREFLIGHT).status_code == 200


def test_the_connection_goes_on_after_a_preflight(own):
    with own.connect() as connection:
        for _ in range(3):
            connection.send(wire.message('OPTIONS', '/blur', headers=[('Origin', SHOP), *PREFLIGHT.items()]))
            assert connection.answer().status == 204
            connection.send(wire.message('POST', '/blur', pictures.small_png(), [('Origin', SHOP)]))
            answer = connection.answer()
            assert answer.status == 200 and answer.header('Access-Control-Allow-Origin') == SHOP


def test_with_tokens(start, tmp_path):
    (tmp_path / 'tokens').write_text('a-token-for-this-test\n')
    own = start('--token-file', tmp_path / 'tokens', '--cors-origins', SHOP)
    assert ask(own, 'OPTIONS', '/blur', SHOP, **PREFLIGHT).status_code == 204  # browsers send none with it
    answer = ask(own, 'POST', '/blur', SHOP, pictures.small_png())
    check_problem(answer, 'unauthorized')
    assert answer.headers['Access-Control-Allow-Origin'] == SHOP
    assert ask(own, 'POST', '/blur', SHOP, pictures.small_png(), Authorization='Bearer a-token-for-this-test').status_code == 200


def test_refusals_before_the_body_may_be_read(start):
    own = start('--cors-origins', SHOP, '--max-body', '1KiB')
    answer = ask(own, 'POST', '/blur', SHOP, b'x' * 5000)
    check_problem(answer, 'body-too-large')
    assert answer.headers['Access-Control-Allow-Origin'] == SHOP


@certificates.needed
def test_with_tls(start, tmp_path):
    pair = certificates.Pair(tmp_path, 'one')
    own = start(*pair.options(), '--cors-origins', SHOP)
    answer = requests.get(f'https://localhost:{own.port}/livez', headers={'Origin': SHOP}, verify=str(pair.certificate), timeout=20 * daemon.SLOW)
    assert answer.headers['Access-Control-Allow-Origin'] == SHOP


def test_off_by_default(server):
    for method in ('GET', 'OPTIONS'):
        answer = ask(server, method, '/livez', SHOP, **PREFLIGHT)
        assert answer.status_code == (200 if method == 'GET' else 405) and not cors_headers(answer) and not varies(answer)


def test_a_reload_changes_the_list(start, tmp_path):
    path = tmp_path / 'blurd.conf'
    path.write_text(f'cors_origins = {SHOP}\n')
    own = start('--config', path)
    assert cors_headers(ask(own, 'GET', '/livez', SHOP)) and not cors_headers(ask(own, 'GET', '/livez', LOCAL))
    path.write_text(f'cors_origins = {LOCAL}\n')
    own.signal(daemon.signal.SIGHUP)
    assert daemon.eventually(lambda: cors_headers(ask(own, 'GET', '/livez', LOCAL)))
    assert not cors_headers(ask(own, 'GET', '/livez', SHOP))


@pytest.mark.parametrize('given,says', (
    ('*', 'scheme'), ('shop.example', 'scheme'), ('https://', 'host'), ('https:shop.example', 'scheme'), ('HTTPS://shop.example', 'scheme'),
    ('https://Shop.example', 'host'), ('https://shop.example/', 'path'), ('https://shop.example/x', 'path'), ('https://shop.example:', 'port'),
    ('https://shop.example:0', 'port'), ('https://shop.example:65536', 'port'), ('https://shop.example:080', 'port'), ('https://shop.example:443', 'implies'),
    ('http://a:80', 'implies'), ('https://a,,https://b', 'empty'), ('https://a,', 'empty'), (' , ', 'empty'), ('null', 'scheme'), ('https://a b', 'path'),
    ('https://[::1', 'host'), ('https://*.example', 'host'), ('https://a:99999999999999999999', 'port'), ('https://u@a', 'path'),
))
def test_what_is_no_origin_stops_the_start(given, says):
    code, _, log = daemon.run('--check-config', '--cors-origins', given)
    assert code == 78 and 'cors_origins: "' in log and says in log and log.count('\n') == 1, log


@pytest.mark.parametrize('given', ('', 'https://a', 'http://127.0.0.1:8080', 'https://[::1]:8443', 'http://a:443', ' https://a , https://b.c ', 'capacitor://localhost',
                                   'https://a:65535', 'chrome-extension://abcdef'))
def test_origins(given):
    assert daemon.run('--check-config', '--cors-origins', given)[0] == 0
