# SPDX-License-Identifier: MIT
"""The dashboard and the alerts in a real Prometheus that scrapes a daemon under load (make check-prometheus): each
query of a panel and each expression of an alert is evaluated, and none is empty.

The GPU is tests/fake_cuda. In a build without CUDA headers the panels of the GPU show a host without one."""

import contextlib
import json
import re
import shutil
import subprocess
import threading

import pytest
import requests

import daemon
import fake_gpu
import fake_jpeg
import pictures
from test_monitoring import ALERTS, DASHBOARD
from test_start import free_port

yaml = pytest.importorskip('yaml')

PROGRAM = shutil.which('prometheus') or shutil.which('prometheus', path=str(daemon.ROOT / 'build/tools'))
pytestmark = pytest.mark.skipif(not PROGRAM, reason='no prometheus: run config/packages.sh test')
SCRAPES = 12  # one a second; a rate takes two of them
WINDOW = '5s'  # what Grafana puts in place of $__rate_interval: some scrapes
PNG = pictures.png(pictures.photograph(640, 480))
# Panels of what no client can cause here: they show zeros, all others move.
QUIET = {'Connections that were ended', 'GPU faults', 'Draining', 'Log lines left out', 'More work than can be done', 'Detectors', 'Reloads',
         'Refused for overload, and why', 'Spans'}
GPU = {'GPU', 'Places for JPEGs', 'JPEGs on the GPU'}


class Prometheus:
    def __init__(self, folder, target):
        rules = re.sub(r'(\[1d):1m\]', r'\1:1s]', ALERTS.read_text())  # a step that fits into the test's few seconds
        (folder / 'alerts.yml').write_text(rules)
        (folder / 'prometheus.yml').write_text(yaml.safe_dump({
            'global': {'scrape_interval': '1s', 'evaluation_interval': '1s'}, 'rule_files': ['alerts.yml'],
            'scrape_configs': [{'job_name': 'blurd', 'static_configs': [{'targets': [target]}]}]}))
        self.port, self.folder, self.process = free_port(), folder, None

    def __enter__(self):
        with open(self.folder / 'log', 'wb') as log:
            self.process = subprocess.Popen([PROGRAM, f'--config.file={self.folder}/prometheus.yml', f'--storage.tsdb.path={self.folder}/data',
                                             f'--web.listen-address=127.0.0.1:{self.port}'], stdout=log, stderr=log)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)

    def ask(self, path, **parameters):
        answer = requests.get(f'http://127.0.0.1:{self.port}/api/v1/{path}', params=parameters, timeout=30)
        assert answer.status_code == 200, f'{parameters}: {answer.text}'
        return answer.json()['data']

    def values(self, expression):
        return [float(series['value'][1]) for series in self.ask('query', query=expression)['result']]

    def scrapes(self):
        with contextlib.suppress(requests.ConnectionError, AssertionError):
            return sum(self.values('count_over_time(up{job="blurd"}[1h])'))
        return 0


def work(own, stopping):
    """Pictures for the GPU and for the codecs' processes, small and large bodies, and requests that are refused."""
    while not stopping.is_set():
        for target, body, status in (('/blur?sigma=3', fake_jpeg.PHOTO, 200), ('/resize?width=100&format=webp', PNG, 200),
                                     ('/stats', PNG, 200), ('/blur?sigma=9', PNG, 200), ('/blur?sigma=no', PNG, 400), ('/nothing', b'', 404)):
            assert own.post(target, body).status_code in (status, 503), target
        own.get('/version', headers={'Connection': 'close'})


@pytest.fixture(scope='module')
def watched(tmp_path_factory):
    """A Prometheus that has scraped a busy daemon for some seconds; the load goes on."""
    has_gpu = fake_gpu.LIBRARY.exists()
    options = fake_jpeg.jpeg_options() if has_gpu else ('--gpus', 'none')
    stopping = threading.Event()
    with daemon.Daemon(*options, '--queue', 2, '--workers', 1, environment=fake_gpu.settings()) as own:
        if has_gpu:
            fake_jpeg.await_places(own)
        loads = [threading.Thread(target=work, args=(own, stopping), daemon=True) for _ in range(12)]
        with Prometheus(tmp_path_factory.mktemp('prometheus'), f'127.0.0.1:{own.port}') as prometheus:
            for load in loads:
                load.start()
            try:
                assert daemon.eventually(lambda: prometheus.scrapes() >= SCRAPES, 60), (prometheus.folder / 'log').read_text()
                yield prometheus
            finally:
                stopping.set()
                for load in loads:
                    load.join()


def panels():
    """(title, expression) as Grafana asks, for all instances."""
    for panel in json.loads(DASHBOARD.read_text())['panels']:
        for target in panel.get('targets', ()):
            yield panel['title'], target['expr'].replace('$__rate_interval', WINDOW).replace('$instance', '.*')


def test_every_panel_shows_numbers(watched):
    moving = set()
    for title, expression in panels():
        values = watched.values(expression)
        # A mean over no requests is no number: a stage that no request here has is a gap among the others.
        assert any(value == value for value in values), f'{title}: {expression} gives {values}'
        if any(value > 0 for value in values):
            moving.add(title)
    still = {title for title, _ in panels()} - moving
    assert still <= QUIET | (set() if fake_gpu.LIBRARY.exists() else GPU), f'these panels show only zeros: {still}'


def test_the_dashboard_lists_the_instance(watched):
    query = json.loads(DASHBOARD.read_text())['templating']['list'][1]['query']['query']
    metric, label = re.fullmatch(r'label_values\((\w+), (\w+)\)', query).groups()
    assert watched.ask(f'label/{label}/values', **{'match[]': metric})


def rules():
    return [rule for group in yaml.safe_load(ALERTS.read_text())['groups'] for rule in group['rules']]


def test_prometheus_evaluates_every_rule(watched):
    known = [rule for group in watched.ask('rules')['groups'] for rule in group['rules']]
    assert len(known) == len(rules())
    for rule in known:
        assert rule['health'] == 'ok' and not rule.get('lastError'), rule


def test_every_alert_compares_numbers(watched):
    """An alert is silent where its comparison is false. With `bool` the comparison gives 0 or 1 for every series, so
    that an expression whose names or labels match nothing is found."""
    for rule in rules():
        expression = re.sub(r'(?<=[\w)}\]]) (==|<|>) (?=[\d.])', r' \1 bool ', rule['expr'].replace('[1d:1m]', '[1d:1s]'))
        values = watched.values(expression)
        if expression.startswith('absent('):
            assert values == [] and watched.values(expression.replace('job="blurd"', 'job="none"')) == [1]
        else:
            assert 'record' in rule or ' bool ' in expression, expression
            assert values and all(value == value for value in values), f'{expression} gives {values}'
