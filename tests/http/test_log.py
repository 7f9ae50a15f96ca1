# SPDX-License-Identifier: MIT
"""The log: one line a request that machines can read, and that no client can forge."""

import json
import re
import signal
import threading
import time

import pytest

import daemon
import pictures
import wire

TIME = r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z'
HOSTILE = ('/a%0a2026-01-01T00:00:00.000Z%20error%20forged', '/\x1b[31mred', '/"quoted"', '/back\\slash', '/{"a":"b"}', '/\xff\xfe',
           '/\x0b\x0c\x7f', "/it's", '/a=b', '/' + '"' * 8000, '/' + '\x01' * 8000, '/\u00e9', '/]]>&<b>', '/$(id)`id`', '/\x85\x9b31m')


def parse_text(line):
    """time level event key=value …, where a value may be a JSON string."""
    found = re.fullmatch(rf'({TIME}) (error|warning|info|debug) (\w+)((?: \w+=(?:"(?:[^"\\]|\\.)*"|[^ "]+))*)', line)
    assert found, f'not a log line: {line!r}'
    fields = re.findall(r' (\w+)=("(?:[^"\\]|\\.)*"|[^ "]+)', found[4])
    return {'event': found[3], 'level': found[2], **{k: json.loads(v) if v[0] == '"' else v for k, v in fields}}


def parse_json(line):
    found = json.loads(line)
    assert re.fullmatch(TIME, found['time'])
    return found


@pytest.fixture(params=('text', 'json'))
def logged(request, start):
    """A daemon and the function that reads its lines."""
    own = start('--log-format', request.param)
    own.parse = parse_text if request.param == 'text' else parse_json
    return own


def entry_of(own, request_id, parse=parse_text):
    assert own.wait_for_line(request_id), 'no line for the request'
    lines = [parse(line) for line in own.lines if request_id in line]
    assert len(lines) == 1, lines
    return lines[0]


def entry(own, request_id):
    return entry_of(own, request_id, own.parse)


def test_without_addresses(start):
    """`log_client=off`: the request has its line, and no line names a client."""
    own = start('--log-client', 'false')
    own.post('/blur', pictures.small_png(), headers={'X-Request-Id': 'nobody'})
    line = entry_of(own, 'nobody')
    assert line['event'] == 'request' and 'client' not in line and '127.0.0.1' not in str(line)
    own.stop()
    assert not any(' client=' in line for line in own.lines)


def test_a_picture(logged):
    body = pictures.small_png()
    answer = logged.post('/blur?sigma=2', body, headers={'X-Request-Id': 'one-picture'})
    line = entry(logged, 'one-picture')
    wanted = {'event': 'request', 'level': 'info', 'id': 'one-picture', 'client': '127.0.0.1', 'method': 'POST', 'path': '/blur',
              'status': 200, 'in': len(body), 'out': len(answer.content), 'width': 40, 'height': 30, 'backend': answer.headers['X-Backend']}
    assert {k: str(line[k]) for k in wanted} == {k: str(v) for k, v in wanted.items()}
    timing = dict(re.findall(r'(\w+);dur=([\d.]+)', answer.headers['Server-Timing']))
    assert {k: float(line[f'{k}_ms']) for k in timing} == {k: float(v) for k, v in timing.items()}
    assert float(line['life_ms']) >= float(line['total_ms'])


class Unread(daemon.Daemon):
    """Its log is a pipe or a socket that is full before anybody reads on."""

    def _read_log(self):
        self.gate = threading.Event()
        for line in self.process.stderr:
            with self.news:
                self.lines.append(line.decode().rstrip())
                self.news.notify_all()
            if 'listening' in self.lines[-1]:
                self.gate.wait()
        with self.news:
            self.ended = True
            self.news.notify_all()


def test_a_log_that_nobody_reads():
    """The service goes on, SIGTERM ends it, and lines that are missing are counted and told."""
    with Unread('--log-level', 'debug') as own:
        try:
            with own.connect() as connection:
                for _ in range(1500):  # 100 bytes each and more; a pipe has 64 KiB
                    connection.send(wire.message('GET', '/nowhere', headers=('X-Request-Id: ' + 'x' * 60,)))
                    assert connection.answer().status == 404
            dropped = own.metrics()['blurd_log_dropped_total']
            assert dropped > 100
            own.signal(signal.SIGHUP)
            assert daemon.eventually(lambda: own.metrics()['blurd_reloads_total'] == 1)
            own.gate.set()
            answer = daemon.eventually(lambda: own.get('/livez') and own.wait_for_line('lines before this one were dropped', 0.1))
            assert answer
        finally:
            own.gate.set()


def test_an_end_that_nobody_reads():
    with Unread() as own:
        with own.connect() as connection:
            for _ in range(1500):
                connection.send(wire.message('GET', '/nowhere', headers=('X-Request-Id: ' + 'x' * 60,)))
                assert connection.answer().status == 404
        own.signal()
        try:
            assert own.process.wait(10 * daemon.SLOW) == 0
        finally:
            own.gate.set()


TRACE, PARENT = '4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'


def test_trace_context(logged):
    logged.get('/nothing', headers={'X-Request-Id': 'traced', 'traceparent': f'00-{TRACE}-{PARENT}-01'})
    line = entry(logged, 'traced')
    assert line['trace_id'] == TRACE and line['parent_id'] == PARENT


@pytest.mark.parametrize('fields', (
    ['x'], [f'00-{"0" * 32}-{PARENT}-01'], [f'00-{TRACE}-{"0" * 16}-01'], [f'ff-{TRACE}-{PARENT}-01'], [f'00-{TRACE.upper()}-{PARENT}-01'],
    [f'00-{TRACE}-{PARENT}-01-more'], [f'00-{TRACE}-{PARENT}-01'] * 2, [f'00-{TRACE}" status=200 x="-{PARENT}-01']), ids=range(8))
def test_malformed_trace_context_is_as_none(logged, fields):
    headers = [('X-Request-Id', 'not-traced'), *(('traceparent', field) for field in fields), 'Connection: close']
    assert logged.raw(wire.message('GET', '/nothing', headers=headers))[0].status == 404
    line = entry(logged, 'not-traced')
    assert 'trace_id' not in line and 'parent_id' not in line


def test_a_refusal(logged):
    logged.post('/blur?sigma=0', b'x', headers={'X-Request-Id': 'one-refusal'})
    line = entry(logged, 'one-refusal')
    assert str(line['status']) == '400' and line['reason'] == 'bad-parameter' and 'sigma' in line['detail']


def test_lines_about_refusals_go_on(start):
    """Of a flood of refusals 50 are logged in a second; the next second has its own."""
    own = start('--memory', '64MiB', '--max-body', '15MiB')
    large = wire.message('POST', '/blur', length=False, headers=[f'Content-Length: {15 << 20}', 'Expect: 100-continue'])

    def refuse(request_id):
        with own.connect() as connection:
            connection.send(large[:-2] + f'X-Request-Id: {request_id}\r\n\r\n'.encode())
            assert connection.answer().status == 503

    with own.connect() as holder:
        holder.send(wire.message('POST', '/blur', bytes(12 << 20))[:-1])
        assert daemon.eventually(lambda: own.metrics()['blurd_received_bytes_total'] == (12 << 20) - 1)
        begin = int(time.monotonic())
        for _ in range(60):
            refuse('in-a-flood')
        seconds = int(time.monotonic()) - begin + 1
        time.sleep(1)
        refuse('a-second-later')
        assert own.wait_for_line('a-second-later', 2)
        unlogged = own.metrics()['blurd_refusals_unlogged_total']
        logged_lines = sum('in-a-flood' in line for line in own.lines)
        assert logged_lines <= 50 * seconds and logged_lines + unlogged == 60


def test_a_lost_client(logged):
    with logged.connect() as connection:
        connection.send(wire.message('POST', '/blur', b'12345', ['X-Request-Id: one-lost'])[:-1])
        assert daemon.eventually(lambda: logged.metrics()['blurd_received_bytes_total'] == 4)
    line = entry(logged, 'one-lost')
    assert str(line['status']) == '499' and line['reason'] == 'cancelled'


@pytest.mark.parametrize('target', HOSTILE, ids=lambda t: ascii(t[:12]))
def test_hostile_targets(logged, target):
    before = len(logged.lines)
    target = target.encode('utf-8').decode('latin-1')
    logged.raw(wire.message('GET', target, headers=['X-Request-Id: hostile-target', 'Connection: close']), timeout=2)
    logged.get('/nothing', headers={'X-Request-Id': 'afterwards'})
    assert logged.wait_for_line('afterwards')
    lines = [logged.parse(line) for line in logged.lines[before:]]
    assert all(line['event'] != 'forged' for line in lines)
    assert [line['id'] for line in lines if line['event'] == 'request'].count('afterwards') == 1
    for line in logged.lines[before:]:
        assert line.isprintable(), f'control characters in {line!r}'
        assert len(line) < 2048


def test_hostile_ids_never_stand_in_the_log(logged):
    for i, given in enumerate(('x" status=200', 'x\tlevel=error', '{"a":1}', 'x' * 3000 + 'forged')):
        logged.raw(wire.message('GET', f'/nothing{i}', headers=[('X-Request-Id', given), 'Connection: close']))
        assert logged.wait_for_line(f'/nothing{i}')
    for line in map(logged.parse, list(logged.lines)):
        assert line['event'] != 'request' or re.fullmatch(r'[0-9a-f]{16}', line['id'])
    assert 'forged' not in '\n'.join(logged.lines)


def test_the_query_is_not_logged(logged):
    """It may hold private data."""
    logged.post('/blur?sigma=2&token=secret-value', pictures.small_png(), headers={'X-Request-Id': 'with-query'})
    entry(logged, 'with-query')
    assert 'secret-value' not in '\n'.join(logged.lines)


def test_debug_shows_probes(start):
    own = start('--log-level', 'debug')
    own.get('/livez', headers={'X-Request-Id': 'a-probe'})
    assert own.wait_for_line('a-probe')


def test_probes_are_quiet(logged):
    logged.get('/livez', headers={'X-Request-Id': 'a-probe'})
    logged.get('/nothing', headers={'X-Request-Id': 'not-a-probe'})
    assert logged.wait_for_line('not-a-probe')
    assert 'a-probe' not in '\n'.join(logged.lines).replace('not-a-probe', '')


def test_every_line_of_a_life_can_be_read(logged):
    logged.post('/blur', pictures.small_jpeg())
    logged.signal()
    assert logged.wait() == 0
    events = [logged.parse(line)['event'] for line in logged.lines]
    assert events.count('listening') == 1 and 'request' in events and 'drain' in events
