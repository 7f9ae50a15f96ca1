# SPDX-License-Identifier: MIT
"""O8: the effect of random requests on /metrics: they add no series, and each refusal counts for one
reason."""

import collections
import random
import re
import shutil
import subprocess

import lab
import pictures
import wire

REQUESTS, WARM_UP, SERIES = 40000, 20000, 400
NEEDED = {'/convolve': 'preset=edge', '/resize': 'width=20', '/pipeline': 'ops=blur'}  # parameters without which there is no picture

# The text format of Prometheus, no more of it than the daemon needs.
NAME, VALUE = r'[a-zA-Z_:][a-zA-Z0-9_:]*', r'(?:[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?|\+Inf)'
LABEL = r'[a-z_]+="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(rf'({NAME})(\{{{LABEL}(?:,{LABEL})*\}})? ({VALUE})')
HEAD = re.compile(rf'# (HELP|TYPE) ({NAME}) (.+)')
SUFFIX = {'histogram': ('_bucket', '_sum', '_count'), 'counter': ('',), 'gauge': ('',)}


def parse(page):
    """series -> value; ValueError with the line that is not as the format wants it."""
    found, heads, kind, name = {}, set(), None, None
    if not page.endswith('\n'):
        raise ValueError('the last line has no end')
    for line in page.split('\n')[:-1]:
        head, sample = HEAD.fullmatch(line), SAMPLE.fullmatch(line)
        if head:
            if head.group(1, 2) in heads or (head.group(1) == 'TYPE' and (head.group(2) != name or head.group(3) not in SUFFIX)):
                raise ValueError(line)
            heads.add(head.group(1, 2))
            name, kind = head.group(2), head.group(3) if head.group(1) == 'TYPE' else None
        elif sample:
            series = sample.group(1) + (sample.group(2) or '')
            if kind is None or sample.group(1) not in [name + suffix for suffix in SUFFIX[kind]] or series in found:
                raise ValueError(line)
            found[series] = float(sample.group(3))
        else:
            raise ValueError(line)
    return found


class Maker:
    """Random requests, most of them wrong in one way or another. All of them can be told apart by where they end."""

    FIELDS = ('sigma', 'radius', 'block', 'format', 'quality', 'region', 'ops', 'effort', 'kernel', 'mode', 'invert', 'colorspace')
    TEXT = 'abcxyz0189-_.,:;~!*()%&=+|@/?'
    HEADERS = ('Accept', 'Content-Type', 'X-Request-Id', 'User-Agent', 'Traceparent', 'If-None-Match', 'Authorization', 'Origin', 'Accept-Encoding')

    ODD = ('Transfer-Encoding: gzip', 'Content-Length: x', 'Host: b', 'Name : value', 'No colon', 'Expect: nothing', 'X: a\0b')

    def __init__(self, seed, paths):
        self.random, self.paths = random.Random(seed), paths
        self.bodies = (b'', b'%PDF-1' * 9, b'\xff\xd8\xff', pictures.small_png(), pictures.small_jpeg(), pictures.small_png()[:200],
                       pictures.small_jpeg()[:300], bytes(range(256)))

    def text(self, longest=12):
        length = self.random.choice((9000, 9000, 9000, 40000)) if self.random.random() < 0.002 else self.random.randrange(longest)
        return ''.join(self.random.choices(self.TEXT, k=length))

    def target(self):
        path = self.random.choice(self.paths) if self.random.random() < 0.8 else '/' + self.text()
        pairs = []
        for _ in range(self.random.choice((0, 0, 1, 1, 2, 4))):
            name = self.random.choice(self.FIELDS) if self.random.random() < 0.8 else self.text()
            value = str(self.random.choice((1, 2, 0.5, 8, 'png', 'jpeg', 'true', '1,1,9,9'))) if self.random.random() < 0.6 else self.text()
            pairs.append(f'{name}={value}')
        return path + ('?' + '&'.join(pairs) if pairs else '')

    def headers(self):
        found = []
        for name in self.random.sample(self.HEADERS, self.random.randrange(4)):
            found.append(f'{name}: {self.text(40)}')
        if self.random.random() < 0.1:
            found.append(f'X-{self.random.randrange(1000000)}: {self.text()}')
        if self.random.random() < 0.02:
            found.append(self.random.choice(self.ODD))
        return found

    def plain(self):
        """One of each kind, for label sets that chance might leave out for long."""
        targets = [f'{path}?{NEEDED.get(path, "")}&{query}' for path in self.paths for query in ('', 'format=jpeg', 'format=png')]
        targets += list(NEEDED)
        return [wire.message('POST', target, body) for target in targets for body in self.bodies]

    def message(self):
        method = self.random.choice(('POST',) * 18 + ('GET',) * 4 + ('HEAD', 'PUT', 'DELETE', 'OPTIONS', 'BREW'))
        body = self.random.choice(self.bodies) if method in ('POST', 'PUT') else b''
        return wire.message(method, self.target(), body, self.headers()), method == 'HEAD'


def ask(own, connection, statuses, message, head=False):
    """The connection for the next request, or None."""
    connection = connection or own.connect()
    connection.send(message)
    answer = connection.answer(head)
    statuses[answer.status if answer else 'none'] += 1
    if answer and answer.header('Connection') != 'close':
        return connection
    connection.close()
    return None


def page_of(own):
    return own.get('/metrics').text


def of_kind(series, name):
    return sum(value for key, value in series.items() if key.startswith(name + '{'))


def settled(own):
    """The page of a daemon that has finished all that came, and its series."""
    lab.daemon.eventually(lambda: own.metrics()['blurd_requests_in_flight'] == 1)
    page = page_of(own)
    return page, parse(page)


def lint(page):
    tool = shutil.which('promtool') or shutil.which('promtool', path=str(lab.ROOT / 'build/tools'))
    if not tool:
        return 'no promtool here', True
    done = subprocess.run([tool, 'check', 'metrics'], input=page, text=True, capture_output=True, check=False)
    return 'promtool takes it' if done.returncode == 0 else 'promtool: ' + (done.stdout + done.stderr)[:200], done.returncode == 0


def cardinality():
    statuses, connection = collections.Counter(), None
    with lab.start('--workers', 2) as own:
        maker = Maker(lab.Options.seed, ['/', *own.get('/openapi.json').json()['paths']])
        first = parse(page_of(own))
        for message in maker.plain():
            connection = ask(own, connection, statuses, message)
        for i in range(REQUESTS):
            if i == WARM_UP:
                warm = set(settled(own)[1])
            connection = ask(own, connection, statuses, *maker.message())
        if connection:
            connection.close()
        page, last = settled(own)
    linted, fine = lint(page)
    silent = statuses.pop('none', 0)
    refused = sum(count for status, count in statuses.items() if status >= 400)
    counted = of_kind(last, 'blurd_rejections_total') - of_kind(first, 'blurd_rejections_total')
    reasons = sum(value > 0 for key, value in last.items() if key.startswith('blurd_rejections_total{'))
    new = sorted(set(last) - warm)
    for series in new[:20]:
        print(f'     new after {WARM_UP}: {series}')
    measured = (f'{REQUESTS} requests: {lab.counted(statuses.elements())}; {len(first)} series at first, {len(warm)} after {WARM_UP}, {len(last)} in the end; '
                f'{refused} refusals seen, {counted:.0f} counted for {reasons} reasons, {silent} requests without an answer; {linted}')
    return measured, len(last) <= SERIES and not new and counted == refused and not silent and fine


def rows():
    target = f'at most {SERIES} series, none new after {WARM_UP}; every refusal counts once, for one reason; the page keeps to its format'
    return [lab.Row('O8', f'{REQUESTS} random requests and /metrics', target, cardinality)]
