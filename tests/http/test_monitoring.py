# SPDX-License-Identifier: MIT
"""Alerts, dashboard and docs/operations.md speak of metrics that there are, and the alerts come when they should."""

import json
import re
import subprocess

import pytest

import daemon
import problems
from test_operations import PROMTOOL

ALERTS = daemon.ROOT / 'docker/prometheus/alerts.yml'
DASHBOARD = daemon.ROOT / 'docker/grafana/blurd.json'
OPERATIONS = daemon.ROOT / 'docs/operations.md'
NAME = re.compile(r'\b(?:blurd|process)_\w+')


@pytest.fixture(scope='module')
def families(shared):
    """name -> kind"""
    return dict(re.findall(r'^# TYPE (\w+) (\w+)$', shared.get('/metrics').text, re.M))


def expressions():
    """(where, text) of all that is asked of Prometheus."""
    for text in re.findall(r'expr: (?:\|\n((?:          .*\n)+)|(.*)\n)', ALERTS.read_text()):
        yield ALERTS.name, ''.join(text)
    for panel in json.loads(DASHBOARD.read_text())['panels']:
        for target in panel.get('targets', ()):
            yield panel['title'], target['expr']


def test_metrics_are_there(families):
    series = {f'{name}{suffix}' for name, kind in families.items()
              for suffix in (('_bucket', '_sum', '_count') if kind == 'histogram' else ('',))}
    asked = list(expressions())
    assert len(asked) > 35
    for where, text in asked:
        for name in set(NAME.findall(text)):
            assert name in series, f'{where} asks for {name}'
            counter = families.get(name) == 'counter' or name not in families
            assert not counter or re.search(rf'(rate|increase)\(\(?{name}\b|{name}\{{[^}}]*\}}\[', text), f'{where}: {name} without a rate'


def test_label_values_are_there(shared):
    page = shared.get('/metrics').text
    for where, text in expressions():
        for label, value in re.findall(r'\b(reason|stage|le|backend)="([^"$]+)"', text):
            assert f'{label}="{value}"' in page or value in (*problems.TITLES, 'internal', 'none'), f'{where}: {label}={value}'


def test_every_metric_is_shown_and_explained(families, shared):
    """Every metric has a use: a panel or an alert, and a row of the documentation. Those of detectors are shown by their label."""
    answer = shared.get('/metrics').text
    shown = ' '.join(text for _, text in expressions())
    page = OPERATIONS.read_text()
    for name in families:
        assert name in shown or f'\n{name}{{detector=' in answer, f'{name} is in no panel and no alert'
        assert f'| `{name}` |' in page, f'{name} is not in docs/operations.md'


def test_runbooks_are_there():
    headings = {re.sub(r'[^a-z0-9 -]', '', line.lower()).strip().replace(' ', '-')
                for line in re.findall(r'^#+ (.*)$', OPERATIONS.read_text(), re.M)}
    text = ALERTS.read_text()
    named = re.findall(r'runbook_url: https://blurd\.invalid/blurd/blob/HEAD/docs/operations\.md#([\w-]+)$', text, re.M)
    assert len(named) == text.count('- alert:') > 18
    assert set(named) <= headings


def test_the_objectives_are_of_each_operation(shared):
    """All that take a picture, and no probe or page."""
    paths = shared.get('/openapi.json').json()['paths']
    pages = '|'.join(sorted(['other', *(path[1:].partition('.')[0] or 'index' for path, methods in paths.items() if 'get' in methods)]))
    found = re.findall(r'operation!~"([^"]+)"', ALERTS.read_text())
    assert found and set(found) == {pages}


def test_the_dashboard_is_whole():
    page = json.loads(DASHBOARD.read_text())
    panels = [panel for panel in page['panels'] if panel['type'] != 'row']
    assert len({panel['id'] for panel in page['panels']}) == len(page['panels'])
    assert all(panel['title'] and panel['description'] and panel['targets'] for panel in panels)
    places = [(p['gridPos']['x'], p['gridPos']['y']) for p in page['panels']]
    assert len(set(places)) == len(places) and all(p['gridPos']['x'] + p['gridPos']['w'] <= 24 for p in page['panels'])


@pytest.mark.skipif(not PROMTOOL, reason='no promtool: install prometheus, or make test')
@pytest.mark.parametrize('words', (('check', 'rules', 'alerts.yml'), ('test', 'rules', 'alerts_test.yml')), ids=('check', 'test'))
def test_promtool(words):
    done = subprocess.run([PROMTOOL, *words], cwd=ALERTS.parent, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


@pytest.mark.skipif(not PROMTOOL, reason='no promtool: install prometheus, or make test')
def test_the_configuration_of_the_page(tmp_path):
    """What docs/operations.md adds to Prometheus's configuration, with the alerts where its first line puts them."""
    text = re.search(r'```yaml\n(rule_files:.*?)```', OPERATIONS.read_text(), re.S)[1]
    (tmp_path / 'prometheus.yml').write_text(text)
    target = re.search(r'cp docker/prometheus/alerts.yml /etc/prometheus/(\S+)', OPERATIONS.read_text())[1]
    (tmp_path / target).write_bytes(ALERTS.read_bytes())
    done = subprocess.run([PROMTOOL, 'check', 'config', 'prometheus.yml'], cwd=tmp_path, capture_output=True, timeout=60, check=False)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 0 and re.search(r'rules? files? found|SUCCESS: [1-9]\d* rules found', said), said


def test_every_alert_is_tested():
    tested = (ALERTS.parent / 'alerts_test.yml').read_text()
    for name in re.findall(r'- alert: (\w+)', ALERTS.read_text()):
        assert re.search(rf'alertname: {name}\n\s+exp_alerts', tested), f'{name} never comes in a test'
