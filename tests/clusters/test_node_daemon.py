# SPDX-License-Identifier: MIT
"""docs/examples/node_daemon.py: one daemon for all processes, which ends with the last of them, and what is sent again."""

import json
import os
import signal
import subprocess
import sys

import pytest

import cluster
import daemon
import pictures

# Answers a line with the daemon's answers for as many pictures as it is asked for.
ASKING = f'''
import pathlib, sys
sys.path.insert(0, {str(cluster.EXAMPLES)!r})
import json, node_daemon
client = node_daemon.Client('test', sys.argv[1])
for line in sys.stdin:
    done = client.redact([pathlib.Path(name).read_bytes() for name in line.split()])
    print(json.dumps([(len(data), status, error) for data, status, error in done]), flush=True)
'''
# Refuses each picture twice and then loses the connection; 'bad' is always wrong. A line of the log for each request.
BUSY = '''#!{python}
import http.server, socket, sys
asked = {{}}
class Door(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        self.answer(200, b'')
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        asked[body] = asked.get(body, 0) + 1
        print('asked', body.decode(), file=sys.stderr, flush=True)
        if body == b'bad':
            self.answer(422, b'{{"title": "No", "detail": "never"}}')
        elif asked[body] < 3:
            self.answer(503 if asked[body] == 1 else 429, b'{{}}')
        elif asked[body] == 3:
            self.close_connection = True
        else:
            self.answer(200, body * 2)
    def answer(self, status, body):
        self.send_response(status)
        self.send_header('Content-Length', str(len(body)))
        self.send_header('Retry-After', '1')
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer(('', 0), Door, bind_and_activate=False)
server.socket = socket.socket(fileno=3)
server.get_request = lambda: (server.socket.accept()[0], ('unix', 0))
server.serve_forever()
'''


class Asking:
    def __init__(self, place, **more):
        own = cluster.environment({'TMPDIR': str(place)})
        self.process = subprocess.Popen([sys.executable, '-c', ASKING, 'blur?sigma=1'], env={**own, **more}, cwd=place, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, *names):
        self.process.stdin.write(' '.join(names) + '\n')
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.communicate()


@pytest.fixture
def two(place):
    (place / 'a.jpg').write_bytes(pictures.small_jpeg())
    made = [Asking(place), Asking(place)]
    yield made
    for each in made:
        each.end()
    assert daemon.eventually(lambda: not cluster.processes(place)), 'the last one was killed, and the rest ends'


def test_processes_share_a_daemon_until_the_last_one_is_killed(place, two):
    assert all(each.ask('a.jpg')[0][1] == 200 for each in two)
    own, = cluster.daemons(place)
    two[0].end()
    assert two[1].ask('a.jpg')[0][1] == 200 and list(cluster.daemons(place)) == [own]


def test_a_daemon_does_not_outlive_its_keeper(place, two):
    assert two[0].ask('a.jpg')[0][1] == 200
    keeper, = [pid for pid, command in cluster.processes(place).items() if 'node_daemon.py' in command]
    own, = cluster.daemons(place)
    cluster.kill(keeper)
    assert daemon.eventually(lambda: not os.path.exists(f'/proc/{own}'))
    assert all(each.ask('a.jpg')[0][1] == 200 for each in two), 'and there is another'
    assert len(cluster.daemons(place)) == 1


def test_a_program_that_does_not_start_is_told(place):
    own = Asking(place, BLURD=str(place / 'nowhere'))
    _, _ = own.process.communicate(timeout=30)
    assert own.process.returncode == 1 and 'No such file' in (place / f'blurd-{os.getuid()}-test/log').read_text()


def test_what_is_sent_again(place):
    program = place / 'busy'
    program.write_text(BUSY.format(python=sys.executable))
    program.chmod(0o700)
    for name in ('bad', 'one'):
        (place / name).write_text(name)
    own = Asking(place, BLURD=str(program))
    assert own.ask('bad', 'one') == [[0, 422, 'No: never'], [6, 200, '']]
    own.end()
    asked = [line for line in (place / f'blurd-{os.getuid()}-test/log').read_text().splitlines() if line.startswith('asked')]
    assert sorted(asked) == ['asked bad'] + ['asked one'] * 4
