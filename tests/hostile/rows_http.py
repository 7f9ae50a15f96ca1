# SPDX-License-Identifier: MIT
"""H3 to H7 and H16: hostile HTTP."""

import json
import random
import re
import subprocess
import sys
import time

import lab
import pictures
import wire
from lab import row

import test_framing

JPEG = pictures.small_jpeg()
LIMIT = 64 << 10


def statuses(own, message, timeout=10):
    """The statuses of all answers on a new connection, as a list of numbers."""
    return [answer.status for answer in own.raw(message, timeout)]


def judge(found, table):
    """(text with the number of correct answers and some wrong ones, whether all are correct)"""
    wrong = [f'{name}: {found[name] or "closed"}' for name in table if not table[name](found[name])]
    return f'{len(table) - len(wrong)} of {len(table)} {"; ".join(wrong[:3])}'.rstrip(), not wrong


def only(*allowed):
    return lambda answers: len(answers) == 1 and answers[0] in allowed


def padded(size):
    """A JPEG of exactly that many bytes: data after the picture is ignored."""
    return JPEG + bytes(size - len(JPEG))


# --- H3 ----------------------------------------------------------------------------------------
@row('H3', 'declared and real length of a body', 'limit 200, one more 413, 0: 400, too short 408, too long 400 after the answer')
def lengths():
    close = ['Connection: close']
    cases = {
        'limit': (wire.message('POST', '/blur', padded(LIMIT), close), only(200)),
        'limit, chunked': (wire.message('POST', '/blur', headers=['Transfer-Encoding: chunked', *close], length=False)
                           + wire.chunked(padded(LIMIT)), only(200)),
        'limit + 1': (wire.message('POST', '/blur', padded(LIMIT + 1), close), only(413)),
        'limit + 1, chunked': (wire.message('POST', '/blur', headers=['Transfer-Encoding: chunked', *close], length=False)
                               + wire.chunked(padded(LIMIT + 1)), only(413)),
        '0': (wire.message('POST', '/blur', b'', close), only(400)),
        'none': (wire.message('POST', '/blur', headers=close, length=False), only(400, 411)),
        'larger than sent': (wire.message('POST', '/blur', headers=[f'Content-Length: {len(JPEG) + 9}'], length=False) + JPEG, only(408)),
        'smaller than sent': (wire.message('POST', '/blur', headers=[f'Content-Length: {len(JPEG)}'], length=False) + JPEG
                              + b'\0\1\2\r\n\r\n', lambda answers: answers in ([200], [200, 400])),
    }
    with lab.start('--max-body', LIMIT, '--body-timeout', '1s') as own:
        found = {name: statuses(own, message) for name, (message, _) in cases.items()}
    return judge(found, {name: wanted for name, (_, wanted) in cases.items()})


# --- H4 ----------------------------------------------------------------------------------------
def chunked_post(body):
    return wire.message('POST', '/blur', headers=['Transfer-Encoding: chunked', 'Connection: close'], length=False) + body


@row('H4', 'chunks that are tiny, endless or malformed', '200, 413 or a refusal, no hang, <= 0.5 s CPU for a million chunks')
def chunks():
    million = padded(1000000)
    end = b'0\r\n\r\n'
    refused = lambda answers: len(answers) <= 1 and set(answers) <= {400, 408, 413, 431, 500, 501}  # noqa: E731
    cases = {
        'a million of 1 byte': (b''.join(b'1\r\n%c\r\n' % byte for byte in million) + end, only(200)),
        'extension of 200 kB': (b'5;x=' + b'a' * 200000 + b'\r\nhello\r\n' + end, refused),
        'extensions': (b'%x;a=b\r\n%s\r\n' % (len(JPEG), JPEG) + end, lambda answers: answers in ([200], [400])),
        'size of 2^64': (b'10000000000000000\r\nhello\r\n' + end, refused),
        'size of 2^63': (b'8000000000000000\r\nhello\r\n' + end, refused),
        '0x5': (b'0x5\r\nhello\r\n' + end, refused), '-5': (b'-5\r\nhello\r\n' + end, refused),
        'no size': (b'\r\nhello\r\n' + end, refused), 'no line end behind the data': (b'5\r\nhelloX' + end, refused),
        'trailer': (b'%x\r\n%s\r\n0\r\nX: y\r\n\r\n' % (len(JPEG), JPEG), lambda answers: answers in ([200], [400])),
        'trailer of 1 MB': (b'%x\r\n%s\r\n0\r\nX: ' % (len(JPEG), JPEG) + b'y' * 1000000 + b'\r\n\r\n',
                            lambda answers: len(answers) <= 1 and set(answers) <= {200, 400, 413, 431}),
    }
    with lab.start() as own:
        found = {}
        for name, (body, _) in cases.items():
            before, begin = lab.cpu_seconds(own.process.pid), time.monotonic()
            found[name] = statuses(own, chunked_post(body))
            if name.startswith('a million'):
                cpu = lab.cpu_seconds(own.process.pid) - before
        measured, fine = judge(found, {name: wanted for name, (_, wanted) in cases.items()})
        fine = fine and lab.Cost(own, JPEG).statuses == [200]
    return f'{measured}; a million chunks: {cpu:.2f} s CPU', fine and cpu <= 0.5


# --- H5 ----------------------------------------------------------------------------------------
SMUGGLED = b'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'


def framing_mutants(count):
    """Ambiguous messages with a changed byte in their head; the smuggled request must stay unanswered, unless
    the change made the message an ordinary one, as the count of bodies shows."""
    order = random.Random(lab.Options.seed)
    messages = list(test_framing.AMBIGUOUS.values())
    for _ in range(count):
        out = bytearray(order.choice(messages))
        end = out.index(b'\r\n\r\n') + 4
        for _ in range(order.randrange(1, 3)):
            at = order.randrange(end)
            out[at] = order.choice(b' \t\r\n\0:,;+-0159aXx\x0b\x7f\xff')
        yield bytes(out)


@row('H5', 'messages whose end is in doubt (request smuggling)', 'every ambiguous one refused, one answer at most, nothing smuggled answered')
def smuggling():
    with lab.start('--header-timeout', '2s', '--body-timeout', '2s') as own:
        table = {name: (lambda answers: len(answers) <= 1 and set(answers) <= {400, 408, 411, 413, 414, 431, 501, 505})
                 for name in test_framing.AMBIGUOUS}
        found = {name: statuses(own, message + SMUGGLED, 4) for name, message in test_framing.AMBIGUOUS.items()}
        old = test_framing.is_old(own)
        library = own.get('/version').json()['http']
        if old:
            table.pop('zero byte in a value')
        measured, fine = judge(found, table)
        worst = 0
        for message in framing_mutants(400):
            with own.connect(1) as connection:
                connection.send(message)
                connection.socket.shutdown(1)
                worst = max([worst] + [answer.status for answer in connection.answers()])
        alive = lab.Cost(own, JPEG).statuses == [200]
    second, known = second_list(old)
    measured = f'{library}: {measured}; {second}400 mutants: highest status {worst}, {"goes on" if alive else "DEAD"}'
    if fine and alive and old:
        return measured, (f'{library} (Debian 12) hides a zero byte in a value, and sends the head of {known} of its own refusals twice; '
                          'met with 1.0, of Debian 13 and the image')
    return measured, fine and alive and not known


def second_list(old):
    """(output of the attack script, number of its failures that the library causes). Its deadlines need a
    daemon's defaults."""
    script = lab.ATTACK / 'http_framing.py'
    if not script.exists():
        return '', 0
    with lab.start() as own:
        done = subprocess.run([sys.executable, str(script), str(own.port)], capture_output=True, text=True, check=False)
    wrong = set(re.findall(r'^WRONG (.*?):', done.stdout, re.M))
    assert wrong <= (test_framing.KNOWN if old else set()), done.stdout
    return f'second list {done.stdout.splitlines()[-1]}; ', len(wrong)


# --- H6 ----------------------------------------------------------------------------------------
def get(target='/livez', *headers):
    return wire.message('GET', target, headers=[*headers, 'Connection: close'], length=False)


@row('H6', 'headers and targets without measure, pipelining', '431, 414 or 400; 20000 pipelined answered; <= 64 KiB a connection')
def heads():
    refused = only(400, 404, 413, 414, 431)
    cases = {
        'header of 40 kB': (get('/livez', 'X: ' + 'a' * 40000), only(400, 413, 431)),
        'header of 4 MB': (get('/livez', 'X: ' + 'a' * 4000000), lambda answers: not answers or answers[0] in (400, 413, 431)),
        'target of 40 kB': (get('/' + 'a' * 40000), only(414)), 'target of 1 MB': (get('/' + 'a' * 1000000), only(400, 414, 431)),
        '1000 headers': (get('/livez', *[f'X{i}: y' for i in range(1000)]), only(400, 431)),
        'method of 40 kB': (wire.message('G' * 40000, '/livez', length=False), only(400, 405, 414, 501)),
        'bad percent': (wire.message('POST', '/blur?sigma=%zz', JPEG, ['Connection: close']), only(400)),
        '%00 in a value': (wire.message('POST', '/blur?sigma=2%00', JPEG, ['Connection: close']), only(400)),
        'bytes that are no text': (b'GET /\xff\xfe\xfd HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', refused),
        'a control character': (b'GET /li\x01vez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', refused),
        'version 9.9': (b'GET /livez HTTP/9.9\r\nHost: a\r\nConnection: close\r\n\r\n', only(400, 505)),
        'no version': (b'GET /livez\r\n\r\n', lambda answers: len(answers) <= 1 and set(answers) <= {400, 505}),
        'nothing but line ends': (b'\r\n' * 5000, lambda answers: len(answers) <= 1 and set(answers) <= {400, 408, 431}),
        'noise': (random.Random(3).randbytes(60000), lambda answers: len(answers) <= 1 and set(answers) <= {400, 405, 413, 414, 431, 501, 505}),
    }
    with lab.start('--header-timeout', '2s', '--connections', 400) as own:
        found = {name: statuses(own, message) for name, (message, _) in cases.items()}
        measured, fine = judge(found, {name: wanted for name, (_, wanted) in cases.items()})
        order = pipelined(own, 20000)
        per = connection_memory(own, 200)
    return f'{measured}; pipelined {order} of 20000; {per:.0f} KiB a connection', fine and order == 20000 and per <= 64


def pipelined(own, count):
    """How many of that many requests, sent without waiting, are answered in order."""
    with own.connect(30) as connection:
        answered, at = 0, 0
        while at < count:
            batch = min(200, count - at)
            connection.send(b''.join(wire.message('GET', '/livez', headers=[f'X-Request-Id: {at + i}'], length=False) for i in range(batch)))
            for i in range(batch):
                answer = connection.answer()
                answered += bool(answer) and answer.status == 200 and answer.header('X-Request-Id') == str(at + i)
            at += batch
    return answered


def connection_memory(own, count):
    """KiB of new memory for each connection with half a header sent."""
    lab.Cost(own, JPEG)
    before = own.status('VmRSS')
    crowd = [own.connect() for _ in range(count)]
    for connection in crowd:
        connection.send(b'GET /livez HTTP/1.1\r\nX: ' + b'a' * 30000)
    time.sleep(0.5)
    after = own.status('VmRSS')
    for connection in crowd:
        connection.close()
    return max(0, after - before) / count


# --- H7 ----------------------------------------------------------------------------------------
VALUES = ('NaN', 'nan', 'inf', '-inf', '1e309', '-0', '0x1p3', '0x10', '', '%20', '2%20', '%202', '+2', '2,5', '2.', '1e', '--2', '2%00',
          '2%0A', '%D9%A2', '1_000', '9' * 4000, '-1', '501', '1e-400', '0.09999', '2f', 'true')

LEGAL = {('sigma', '2.'), ('effort', '-0')}  # another way to write a number that is allowed


@row('H7', 'parameters that are no numbers, unknown, repeated, too long', '400 bad-parameter that names the parameter; 5xx never')
def parameters():
    right = count = named = 0
    highest, wrong = 0, []
    targets = [(f'/blur?{name}={value}', name) for name in ('sigma', 'kernel_size', 'quality', 'effort', 'edge', 'format', 'region')
               for value in VALUES if (name, value) not in LEGAL]
    targets += [('/blur?nothing=1', 'nothing'), ('/blur?Sigma=2', 'Sigma'), ('/blur?sigma=2&sigma=2', 'sigma'), ('/blur?sigma%00=2', ''),
                ('/blur?' + 'a' * 200 + '=1', ''), ('/pipeline', 'ops'), ('/pipeline?ops=blur:sigma=nan', 'ops'),
                ('/pipeline?ops=' + '|'.join(['blur'] * 9), 'ops'), ('/convolve?kernel=1,2,nan', 'kernel'), ('/convolve?kernel=1,2;3', 'kernel'),
                ('/convolve?kernel=' + '1,' * 400 + '1', 'kernel'), ('/pixelate?block=1e9', 'block'), ('/sharpen?amount=inf', 'amount')]
    with lab.start() as own, lab.Client(own) as client:
        for target, parameter in targets:
            answer = client.ask(JPEG, target)
            count += 1
            highest = max(highest, lab.status_of(answer) if answer else 599)
            if answer and answer.status == 400:
                right += 1
                named += json.loads(answer.body).get('parameter', '') == parameter
            else:
                wrong.append(f'{target[:40]}: {lab.status_of(answer)}')
        order = random.Random(lab.Options.seed)
        for _ in range(3000):
            text = ''.join(order.choice('sigmaregonpsblurkw=&%0123456789.,:;|-+eE[]~') for _ in range(order.randrange(60)))
            answer = client.ask(JPEG, '/' + order.choice(('blur', 'pipeline', 'convolve', 'stats')) + '?' + text)
            highest = max(highest, answer.status if answer else 599)
    measured = f'{right} of {count} refused, {named} named; 3000 random queries: highest status {highest} {"; ".join(wrong[:3])}'
    coverage = lab.ROOT / 'build/coverage/parser.txt'  # of make coverage
    measured += f'; tests take {coverage.read_text().strip()} of the parser' if coverage.exists() else ''
    return measured.rstrip(), right == count and named == count and highest < 500


# --- H16 ---------------------------------------------------------------------------------------
PATHS = ('//', '//blur', '/blur/', '/Blur', '/blur%00', '/blur%00x', '/livez%00x', '/%62lur', '/blur;x', '/../blur', '/x/../blur', '/./blur',
         '/blur/../livez', '/blur/../metrics', '/%2e%2e/metrics', '/..%2fmetrics', '/%2e%2e%2f%2e%2e%2fetc/passwd', '/../../etc/passwd',
         '/blur#x', '*', 'blur', 'http://localhost/blur/', 'http://localhost//metrics', 'http:/metrics', 'https:metrics', '/metrics/', '/blur%2F', '/blur%20', '/\\blur',
         '/blur.jpg', 'file:///etc/passwd', '/livez/%2e', '/%c0%ae%c0%ae/metrics')


@row('H16', 'paths that mean another one', '404 or 400, byte for byte')
def paths():
    with lab.start() as own:
        found, bodies = {}, b''
        for path in PATHS:
            for method in ('GET', 'POST'):
                answers = own.raw(wire.message(method, path, headers=['Connection: close']))
                found[f'{method} {path}'] = [answer.status for answer in answers]
                bodies += b''.join(answer.body for answer in answers)
    measured, fine = judge(found, {name: only(400, 404) for name in found})
    return measured, fine and not re.search(rb'root:|blurd_requests', bodies)
