# SPDX-License-Identifier: MIT
"""docs/scaling.md: its sums are right, its figures are the measured ones, HAProxy accepts its
configuration."""

import json
import re
import statistics
import subprocess

import pytest

import daemon
import proxies

PAGE = (daemon.ROOT / 'docs/scaling.md').read_text()


def cells(line):
    return [cell.strip() for cell in line.strip('|\n').split('|')]


def figures():
    """[(JPEG, PNG)]: requests a second and core, kB of a request, kB of an answer."""
    return [tuple(map(float, cells(line)[1:])) for line in re.findall(r'^\| (?:requests a second|kB of an?).*$', PAGE, re.M)]


def rows():
    table = PAGE.split('<!-- results: arithmetic -->\n', 1)[1].split('<!-- end', 1)[0]
    return [(cells(line)[0], [float(cell) for cell in cells(line)[1:]]) for line in table.splitlines()[2:]]


@pytest.mark.parametrize('name,values', rows(), ids=[name for name, _ in rows()])
def test_the_sums(name, values):
    (core, _), (request, _), (answer, _) = figures()
    cores, gain, requests, inward, outward = values
    assert requests == pytest.approx(cores * core * gain, rel=0.01)
    assert inward == pytest.approx(requests * request * 8e-6, rel=0.04)
    assert outward == pytest.approx(requests * answer * 8e-6, rel=0.04)


def test_the_cost():
    (core, _), _, (answer, _) = figures()
    text = ' '.join(PAGE.split())
    assert f'{0.04 / (core * 3600 * 0.6) * 1e6:.2f} a million' in text
    assert f'{answer * 0.05:.2f} a million' in text


@pytest.mark.parametrize('column,section', ((0, 'sigma'), (1, 'png')))
def test_the_figures_are_about_the_measured_ones(column, section):
    found = [row for path in (daemon.ROOT / 'bench/results').glob('*-cpu.json') for row in json.loads(path.read_text())['rows']
             if (row['section'], row['subject'], row.get('sigma')) == (section, 'blurd', 5)]
    middle = {value: statistics.median(statistics.median(row[value]) for row in found) for value in ('cpu_ms', 'bytes')}
    assert figures()[0][column] == pytest.approx(1000 / middle['cpu_ms'], rel=0.25)
    assert figures()[2][column] == pytest.approx(middle['bytes'] / 1000, rel=0.25)


def test_haproxy_takes_the_configuration(tmp_path):
    block = re.search(r'<!-- haproxy -->\n\n((?:    .*\n)+)', PAGE).group(1)
    (tmp_path / 'haproxy.cfg').write_text(re.sub('^    ', '', block, flags=re.M))
    done = subprocess.run([proxies.find('haproxy'), '-c', '-f', str(tmp_path / 'haproxy.cfg')], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0 and 'warning' not in done.stderr.lower(), done.stderr


def test_the_overlays_are_named():
    for path in (daemon.ROOT / 'docker/kubernetes').iterdir():
        assert f'docker/kubernetes/{path.name} ' in PAGE or path.name == 'components'
    for path in (daemon.ROOT / 'docker/kubernetes/components').iterdir():
        assert f'docker/kubernetes/components/{path.name} ' in PAGE or f'`{path.name}`' in PAGE
