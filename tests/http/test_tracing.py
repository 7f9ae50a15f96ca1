# SPDX-License-Identifier: MIT
"""Spans by OTLP over HTTP (--otlp-endpoint), received by a small collector: fields by the specification, parents, and a
collector that is slow, down or gone, which no request notices."""

import concurrent.futures
import contextlib
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import threading
import time

import pytest

import daemon
import pictures

PICTURE = pictures.jpeg(pictures.photograph(320, 240))
TRACE, PARENT = '4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'
QUEUE, BATCH = 2048, 256  # server/tracing/collector.h
STAGES = {'queue', 'decode', 'detect', 'upload', 'filter', 'download', 'encode'}


class Collector:
    """Keeps the messages. `answer` is the status; before it is sent, `gate` must be set."""

    def __init__(self):
        self.messages, self.heads, self.news = [], [], threading.Condition()
        self.answer, self.gate = 200, threading.Event()
        self.gate.set()
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                owner.take(self.path, self.headers, json.loads(body))
                owner.gate.wait(60)
                with contextlib.suppress(ConnectionError):
                    self.send_response(owner.answer)
                    self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, path, headers, message):
        with self.news:
            self.heads.append((path, headers))
            self.messages.append(message)
            self.news.notify_all()

    def spans(self):
        return [span for message in self.messages for resource in message['resourceSpans'] for scope in resource['scopeSpans']
                for span in scope['spans']]

    def roots(self):
        return [span for span in self.spans() if span['kind'] == 2]

    def wait_for(self, condition, timeout=15):
        with self.news:
            assert self.news.wait_for(condition, timeout * daemon.SLOW), self.messages
        return self

    def close(self):
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def collector():
    made = Collector()
    yield made
    made.close()


def launch(start, collector, *more):
    return start('--gpus', 'none', '--otlp-endpoint', f'http://127.0.0.1:{collector.port}/v1/traces', *more)


def blur(own, **headers):
    assert own.post('/blur?sigma=2', PICTURE, headers=headers).status_code == 200


def attributes(span):
    found = {}
    for each in span['attributes']:
        (kind, value), = each['value'].items()
        assert kind in ('stringValue', 'intValue') and isinstance(value, str), 'numbers of 64 bits are strings'
        assert each['key'] not in found
        found[each['key']] = int(value) if kind == 'intValue' else value
    return found


def counts(own):
    found = own.metrics()
    return found['blurd_traces_exported_total'], found['blurd_traces_dropped_total']


# --- what is sent -----------------------------------------------------------------------------------------
def test_fields(start, collector):
    own = launch(start, collector)
    before = time.time_ns()
    blur(own, traceparent=f'00-{TRACE}-{PARENT}-01', **{'X-Request-Id': 'seven'})
    root, = collector.wait_for(collector.roots).roots()
    path, headers = collector.heads[0]
    assert path == '/v1/traces' and headers['Content-Type'] == 'application/json'
    resource = collector.messages[0]['resourceSpans'][0]
    assert attributes(resource['resource']) == {'service.name': 'blurd', 'service.version': own.get('/version').json()['version']}
    assert (root['traceId'], root['parentSpanId'], root['name']) == (TRACE, PARENT, 'POST /blur')
    assert before <= int(root['startTimeUnixNano']) < int(root['endTimeUnixNano']) <= time.time_ns()
    found = attributes(root)
    assert found.pop('http.response.body.size') > 1000 and found.pop('blurd.backend').startswith('cpu/')
    assert found == {'http.request.method': 'POST', 'url.path': '/blur', 'http.route': '/blur', 'client.address': '127.0.0.1',
                     'http.response.status_code': 200, 'http.request.body.size': len(PICTURE), 'blurd.request_id': 'seven',
                     'blurd.width': 320, 'blurd.height': 240}
    assert root['status'] == {}


def test_stages_are_children(start, collector):
    own = launch(start, collector)
    blur(own)
    collector.wait_for(collector.roots)
    root, *children = collector.spans()
    assert root['parentSpanId'] == '' and {'queue', 'decode', 'encode'} <= {child['name'] for child in children} <= STAGES
    end = None
    for child in children:
        assert child['traceId'] == root['traceId'] and child['parentSpanId'] == root['spanId'] and child['kind'] == 1
        begin, end = int(child['startTimeUnixNano']), int(child['endTimeUnixNano'])
        assert int(root['startTimeUnixNano']) <= begin < end
    ids = [span['spanId'] for span in collector.spans()]
    assert len(set(ids)) == len(ids) and all(re.fullmatch('[0-9a-f]{16}', one) and int(one, 16) for one in ids)
    assert re.fullmatch('[0-9a-f]{32}', root['traceId']) and int(root['traceId'], 16)


def test_requests_without_a_caller_begin_traces(start, collector):
    own = launch(start, collector)
    for _ in range(3):
        blur(own)
    collector.wait_for(lambda: len(collector.roots()) == 3)
    assert len({span['traceId'] for span in collector.roots()}) == 3


def test_failures(start, collector):
    own = launch(start, collector)
    own.post('/blur?sigma=no', PICTURE)
    own.post('/nowhere"\\\x7f', PICTURE)
    collector.wait_for(lambda: len(collector.roots()) == 2)
    first, second = collector.roots()
    assert attributes(first)['http.response.status_code'] == 400 and attributes(first)['error.type'] == 'bad-parameter'
    assert first['status'] == {}, 'an error of the client is none of the server'
    assert attributes(second)['http.response.status_code'] == 404 and second['name'] == 'POST' and 'http.route' not in attributes(second)


def test_an_error_of_the_server(start, collector):
    own = launch(start, collector, '--workers', 1, '--queue', 1)
    body = pictures.png(pictures.noise(1500, 1500, 3))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = [done.status_code for done in pool.map(lambda _: own.post('/blur', body), range(8))]
    assert set(found) == {200, 503}, found
    collector.wait_for(lambda: len(collector.roots()) == len(found))
    for root in collector.roots():
        assert root['status'] == ({'code': 2} if attributes(root)['http.response.status_code'] == 503 else {})


def test_what_is_not_sampled_is_not_sent(start, collector):
    own = launch(start, collector)
    blur(own, traceparent=f'00-{TRACE}-{PARENT}-00')
    own.get('/readyz')
    own.get('/metrics')
    blur(own, traceparent=f'00-{TRACE}-{PARENT}-01')
    collector.wait_for(collector.roots)
    own.stop()
    assert len(collector.roots()) == 1


# --- collectors that do not take it ------------------------------------------------------------------------
def test_a_collector_that_is_down(start):
    closed = Collector()
    closed.close()
    own = launch(start, closed)
    blur(own)
    assert daemon.eventually(lambda: counts(own) == (0, 1))
    assert own.wait_for_line('warning spans .*spans are dropped: cannot connect to 127.0.0.1')
    blur(own)
    assert daemon.eventually(lambda: counts(own) == (0, 2))
    assert len([line for line in own.lines if 'spans are dropped' in line]) == 1, 'one line, not one a second'
    assert not [line for line in own.lines if 'takes spans again' in line]


def test_a_collector_that_refuses_and_comes_back(start, collector):
    own = launch(start, collector)
    collector.answer = 503
    blur(own)
    assert own.wait_for_line('spans are dropped: the collector answers HTTP/1.0 503')
    assert daemon.eventually(lambda: counts(own) == (0, 1))
    collector.answer = 200
    blur(own)
    assert own.wait_for_line('the collector takes spans again')
    assert counts(own) == (1, 1)


def test_a_slow_collector_costs_requests_nothing(start, collector):
    """While it holds back its answer the queue fills, further records are dropped, and memory stays bounded."""
    own = launch(start, collector)
    exporter, = exporters(own)
    collector.gate.clear()
    blur(own)
    collector.wait_for(collector.roots)
    count, slowest = QUEUE + 500, 0
    with own.connect() as connection:
        for _ in range(count):
            begin = time.monotonic()
            connection.send(b'GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n')
            assert connection.answer().status == 404
            slowest = max(slowest, time.monotonic() - begin)
    assert slowest < 0.5 * daemon.SLOW
    assert own.wait_for_line('spans are dropped: the collector does not answer within 5 s'), 'the first message'
    resident = int(re.search(r'VmRSS:\s+(\d+) kB', pathlib.Path(f'/proc/{exporter}/status').read_text()).group(1))
    assert resident < (200 << 10 if daemon.SANITIZED else 24 << 10), resident
    collector.gate.set()
    assert daemon.eventually(lambda: sum(counts(own)) == count + 1, 20), counts(own)
    exported, dropped = counts(own)
    assert dropped >= 1 and exported <= QUEUE + BATCH


def test_a_collector_that_says_nothing(start):
    """It accepts connections and closes them."""
    with socket.create_server(('127.0.0.1', 0)) as server:
        own = start('--gpus', 'none', '--otlp-endpoint', f'http://127.0.0.1:{server.getsockname()[1]}')
        blur(own)
        connection, _ = server.accept()
        while b'\r\n\r\n' not in connection.recv(1 << 16):
            pass
        connection.shutdown(socket.SHUT_WR)
        assert own.wait_for_line('spans are dropped: the collector closed the connection')
        connection.close()


def test_a_name_that_is_not_known(start):
    own = start('--gpus', 'none', '--otlp-endpoint', 'http://collector.invalid')
    blur(own)
    assert own.wait_for_line('spans are dropped: collector.invalid: ', 30)


def test_a_process_that_dies_comes_back(start, collector):
    own = launch(start, collector)
    blur(own)
    collector.wait_for(collector.roots)
    old, = exporters(own)
    score = [pathlib.Path(f'/proc/{process}/oom_score_adj').read_text() for process in (own.process.pid, old)]
    assert score[0] == score[1], 'the kernel would end it first'
    os.kill(old, signal.SIGKILL)
    assert daemon.eventually(lambda: exporters(own) not in ([], [old]))
    blur(own)
    assert daemon.eventually(lambda: len(collector.roots()) == 2), counts(own)


# --- the end -----------------------------------------------------------------------------------------------
def test_the_end_sends_what_is_left(start, collector):
    own = launch(start, collector)
    for _ in range(5):
        blur(own)
    own.stop()
    assert len(collector.roots()) == 5


def test_the_end_waits_three_seconds_at_most(start, collector):
    own = launch(start, collector)
    collector.gate.clear()
    blur(own)
    collector.wait_for(collector.roots)
    begin = time.monotonic()
    own.stop()
    assert 1 < time.monotonic() - begin < 4.5 * daemon.SLOW


def test_a_stopped_process_does_not_delay_the_end(start, collector):
    own = launch(start, collector)
    process, = exporters(own)
    os.kill(process, signal.SIGSTOP)
    blur(own)
    own.signal()
    assert own.wait(4) == 0
    assert len(collector.roots()) == 1, 'it is woken up, and sends what is left'


# --- the option --------------------------------------------------------------------------------------------
def test_without_the_option_there_is_no_process(start):
    own = start('--gpus', 'none')
    blur(own)
    assert counts(own) == (0, 0)
    assert not exporters(own)


def exporters(own):
    """The processes that send spans: children of a keeper, which is a child of the daemon."""
    return [pid for keeper, _ in processes_of(own.process.pid) for pid, name in processes_of(keeper) if name == 'blurd-spans']


def processes_of(parent):
    """(pid, name) of its children."""
    for folder in pathlib.Path('/proc').iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                text = (folder / 'stat').read_text()
                if int(text.rpartition(')')[2].split()[1]) == parent:
                    yield int(folder.name), text[text.index('(') + 1:text.rindex(')')]


def test_the_daemon_may_open_no_socket(start, collector):
    """The list of calls is the same with the option: the other process opens the connections."""
    size = [start('--gpus', 'none', *more).wait_for_line(r'list of (\d+) instructions').group(1)
            for more in ((), ('--otlp-endpoint', f'http://127.0.0.1:{collector.port}'))]
    assert size[0] == size[1]


@pytest.mark.parametrize('url', ('https://127.0.0.1:4318', '127.0.0.1:4318', 'http://', 'http://:4318', 'http://x:0', 'http://x:65536',
                                 'http://x:4318a', 'http://[::1', 'http://[]', 'http://x:4318/a b', 'http://a/' + 'b' * 200, 'http://x y'))
def test_wrong_addresses(url):
    code, _, log = daemon.run('--check-config', '--otlp-endpoint', url)
    assert code == 78 and 'otlp_endpoint must be like http://127.0.0.1:4318/v1/traces' in log


@pytest.mark.parametrize('host', ('localhost', '127.0.0.1'))
def test_a_name_and_the_usual_path(start, collector, host):
    own = start('--gpus', 'none', '--otlp-endpoint', f'http://{host}:{collector.port}')
    blur(own)
    collector.wait_for(collector.roots)
    assert collector.heads[0][0] == '/v1/traces' and collector.heads[0][1]['Host'] == f'{host}:{collector.port}'
