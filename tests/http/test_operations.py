# SPDX-License-Identifier: MIT
"""Pages for operators: /livez /readyz /version /metrics, and the events that the counters count."""

import re
import shutil
import subprocess

import pytest

import daemon
import pictures
import wire

PROMTOOL = shutil.which('promtool') or shutil.which('promtool', path=str(daemon.ROOT / 'build/tools'))


def test_livez(server):
    answer = server.get('/livez')
    assert answer.json() == {'status': 'alive'} and answer.headers['Content-Type'] == 'application/json'
    assert answer.headers['Cache-Control'] == 'no-store'


def test_readyz(server):
    answer = server.get('/readyz')
    page = answer.json()
    assert answer.status_code == 200 and page['status'] == 'ready'
    assert page['backends'][-1]['name'].startswith('cpu/') and page['backends'][-1]['state'] == 'serving'
    assert all(b['state'] == 'serving' or b['reason'] for b in page['backends'])
    used = server.post('/blur', pictures.small_png()).headers['X-Backend']
    assert used.split(':')[0] in [b['name'] for b in page['backends'] if b['state'] == 'serving']


def test_version(server):
    page = server.get('/version').json()
    assert page['name'] == 'blurd' and re.fullmatch(r'\d+\.\d+\.\d+', page['version'])
    assert 'microhttpd' in page['http'] and 'jpeg' in page['codecs'] and 'png' in page['codecs'] and page['gpu']


def test_index(server):
    answer = server.get('/')
    assert answer.status_code == 200 and 'curl' in answer.text and str(server.port) in answer.text


def test_queries_do_not_matter_to_pages(server):
    assert server.get('/livez?probe=1').status_code == 200


# --- metrics ------------------------------------------------------------------------------------
@pytest.fixture(scope='module')
def counted():
    with daemon.Daemon() as running:
        yield running


def moves(counted, ask, *names):
    """By how much the counters move when `ask` is done; they move when the request has ended."""
    before = counted.metrics()
    ask()
    daemon.eventually(lambda: counted.metrics()['blurd_requests_in_flight'] == 1)
    after = counted.metrics()
    return tuple(after.get(name, 0) - before.get(name, 0) for name in names)


def series(operation, format, status, reason, backend):
    return (f'blurd_requests_total{{operation="{operation}",format="{format}",status="{status}",reason="{reason}",'
            f'backend="{backend}"}}')


def backend_of(counted):
    return next(b['name'] for b in counted.get('/readyz').json()['backends'] if b['state'] == 'serving')


@pytest.mark.parametrize('format,body', (('jpeg', pictures.small_jpeg()), ('png', pictures.small_png())), ids=('jpeg', 'png'))
def test_a_picture_is_counted(counted, format, body):
    size = {'jpeg': 48 * 32, 'png': 40 * 30}[format]
    answers = []
    names = (series('blur', format, 200, 'none', backend_of(counted)), 'blurd_pixels_total', 'blurd_received_bytes_total',
             *(f'blurd_stage_seconds_count{{stage="{s}"}}' for s in ('queue', 'decode', 'filter', 'encode', 'total')))
    found = moves(counted, lambda: answers.append(counted.post('/blur', body)), *names)
    assert found == (1, size, len(body), 1, 1, 1, 1, 1)
    # Sent bytes also count the page of metrics that was read in between.
    assert moves(counted, lambda: counted.post('/blur', body), 'blurd_sent_bytes_total')[0] > len(answers[0].content)


PROBLEMS = (
    ('bad-parameter', 400, 'blur', lambda d: d.post('/blur?sigma=0', b'x')),
    ('bad-request', 400, 'other', lambda d: d.raw(b'GET /livez?\xff HTTP/1.1\r\nHost: a\r\n\r\n')),
    ('corrupt-image', 400, 'blur', lambda d: d.post('/blur', pictures.small_jpeg()[:300])),
    ('corrupt-image', 400, 'blur', lambda d: d.post('/blur')),
    ('not-found', 404, 'other', lambda d: d.get('/nothing')),
    ('method-not-allowed', 405, 'blur', lambda d: d.get('/blur')),
    ('method-not-allowed', 405, 'livez', lambda d: d.post('/livez')),
    ('body-too-large', 413, 'blur', lambda d: d.raw(wire.message('POST', '/blur', length=False,
                                                                 headers=['Content-Length: 999999999', 'Expect: 100-continue']))),
    ('target-too-long', 414, 'other', lambda d: d.get('/' + 'a' * 9000)),
    ('unsupported-image', 415, 'blur', lambda d: d.post('/blur', b'%PDF-1')),
    ('headers-too-large', 431, 'other', lambda d: d.get('/livez', headers={'X': 'a' * 20000})),
    ('transfer-encoding', 501, 'other', lambda d: d.raw(wire.message('POST', '/blur', headers=['Transfer-Encoding: gzip'], length=False))),
)


@pytest.mark.parametrize('reason,status,operation,ask', PROBLEMS, ids=[f'{p[0]}-{p[2]}-{i}' for i, p in enumerate(PROBLEMS)])
def test_every_refusal_counts_once_for_one_reason(counted, reason, status, operation, ask):
    if reason == 'transfer-encoding' and 'microhttpd 0.' not in counted.get('/version').text:
        pytest.skip('this libmicrohttpd refuses it by itself, uncounted')
    before = counted.metrics()
    assert moves(counted, lambda: ask(counted), f'blurd_rejections_total{{reason="{reason}"}}') == (1,)
    after = counted.metrics()
    moved = {n: after[n] - before.get(n, 0) for n in after
             if n.startswith('blurd_requests_total') and 'operation="metrics"' not in n and after[n] != before.get(n, 0)}
    assert moved == {series(operation, 'none', status, reason, 'none'): 1}
    others = {n: v for n, v in after.items() if n.startswith('blurd_rejections') and v != before[n]}
    assert len(others) == 1


def test_timeouts_and_lost_clients_are_counted(start):
    own = start('--body-timeout', '200ms')
    def slow():
        own.raw(wire.message('POST', '/blur', b'12345')[:-1])
    def gone():
        with own.connect() as connection:
            connection.send(wire.message('POST', '/blur', b'12345')[:-1])
            assert daemon.eventually(lambda: own.metrics()['blurd_requests_in_flight'] == 2)
    assert moves(own, slow, 'blurd_rejections_total{reason="timeout"}') == (1,)
    assert moves(own, gone, 'blurd_rejections_total{reason="cancelled"}') == (1,)


def test_gauges_return(counted):
    metrics = counted.metrics()
    assert metrics['blurd_requests_in_flight'] == 1 and metrics['blurd_queue_depth'] == 0
    assert metrics['blurd_connections_open'] >= 1 and metrics['blurd_draining'] == 0
    assert metrics['blurd_slot_bytes'] > 0


def test_histograms_are_cumulative(counted):
    counted.post('/blur', pictures.small_png())
    page = counted.get('/metrics').text
    for stage in ('queue', 'decode', 'upload', 'filter', 'download', 'encode', 'total'):
        buckets = [int(n) for n in re.findall(rf'_bucket{{stage="{stage}",le="[^"]+"}} (\d+)', page)]
        assert buckets == sorted(buckets) and len(buckets) > 10
        assert f'blurd_stage_seconds_count{{stage="{stage}"}} {buckets[-1]}\n' in page


def test_clients_cannot_add_series(counted):
    """Label values come from tables: more requests, each with names of its own, add no line to those of the first."""
    lines = []
    for begin in (0, 50):
        for i in range(begin, begin + 50):
            counted.raw(wire.message(f'M{i}', f'/p{i}?q{i}', headers=[('X-Request-Id', f'id{i}'), 'Connection: close']))
        page = counted.get('/metrics').text
        assert not re.search(r'[="/](M|p|q|id)\d', page)
        lines.append(page.count('\n'))
    assert lines[0] == lines[1] < 1000


@pytest.mark.skipif(not PROMTOOL, reason='no promtool: install prometheus, or make test')
def test_promtool(counted):
    page = counted.get('/metrics')
    assert page.headers['Content-Type'].startswith('text/plain; version=0.0.4')
    done = subprocess.run([PROMTOOL, 'check', 'metrics'], input=page.content, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()
