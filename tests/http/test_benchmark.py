# SPDX-License-Identifier: MIT
"""blurd --benchmark: what a machine does, and what to set."""

import re
import subprocess

import pytest

import daemon
import pictures


def run(*words):
    return daemon.run('--gpus', 'none', '--benchmark', *words)


@pytest.fixture
def small(tmp_path):
    path = tmp_path / 'small.jpeg'
    path.write_bytes(pictures.small_jpeg())
    return path


def test_a_table_and_advice(small):
    """It takes half a minute, whatever the files are."""
    done = subprocess.run([daemon.BINARY, '--gpus', 'none', '--benchmark', small], capture_output=True, text=True,
                          timeout=60 * daemon.SLOW, env=daemon.clean_environment(), check=False)
    assert (done.returncode, done.stderr) == (0, '')
    output = done.stdout
    row = re.search(r'^small\.jpeg +\d+\.\d((?: +\d+ \( *\d+\.\d\d\)){3})$', output, re.M)
    assert row and all(int(rate) > 0 for rate in re.findall(r'(\d+) \(', row[1]))
    assert re.search(r'^small\.jpeg at sigma 5, one request at a time: \d+\.\d\d ms', output, re.M)
    planned = int(re.search(r'Plan for (\d+) such pictures a second', output)[1])
    assert planned == pytest.approx(0.7 * int(re.findall(r'(\d+) \(', row[1])[1]), abs=1)
    assert re.search(r'to [1-9]\d* MiB or more', output)


def test_a_job(tmp_path, small):
    """A row for each file. In the smaller one the job hides nothing: it is inverted, and its region covers all."""
    tiny = tmp_path / 'tiny.png'
    tiny.write_bytes(pictures.png(pictures.photograph(8, 8)))
    done = subprocess.run([daemon.BINARY, '--gpus', 'none', '--benchmark', 'redact?region=0,0,8,8&invert=true', small, tiny], capture_output=True,
                          text=True, timeout=60 * daemon.SLOW, env=daemon.clean_environment(), check=False)
    assert (done.returncode, done.stderr) == (0, '')
    output = done.stdout
    assert re.search(r'^redact\?region=0,0,8,8&invert=true\n\npicture +kB  pictures a second   CPU ms\n', output, re.M)
    rates = [float(re.search(rf'^{row}$', output, re.M)[1]) for row in (
        r'small\.jpeg +\d+\.\d +(\d+\.\d) +\d+\.\d\d', r'tiny\.png +\d+\.\d +(\d+\.\d) +\d+\.\d\d  nothing found: no answer is encoded')]
    assert all(rate > 0 for rate in rates)
    assert re.search(r'^tiny\.png, one request at a time: \d+\.\d\d ms \(median\), \d+\.\d\d ms', output, re.M)
    own, together = map(int, re.search(r'The daemon had (\d+) MiB at most, and all of its processes together (\d+) MiB', output).groups())
    assert 1 < own <= together < 1000
    thousand, *more = re.search(r'Hours for pictures like these: (.*) for 1,000, (.*) for 100,000, (.*) for 1,000,000\.$', output, re.M).groups()
    assert thousand == 'less than 0.01'
    hours = 1e6 * sum(1 / rate for rate in rates) / len(rates) / 3600
    assert float(more[-1].removeprefix('less than ')) == pytest.approx(hours, abs=max(0.01, hours / 50))


def test_jobs_that_are_wrong(tmp_path, small):
    code, output, errors = run('redact?detekt=faces', small)
    assert (code, output) == (1, '') and 'detekt' in errors and 'unknown parameter, did you mean detect? redact takes ' in errors
    assert run('blur?sigma=1 2', small) == (1, '', 'blurd: the job has a blank, or another character that a query writes as %20\n')
    assert run('blur?sigma=' + 4096 * '1', small) == (1, '', 'blurd: the job is longer than 4094 bytes\n')
    assert run('verify', small) == (1, '', 'blurd: cannot read verify: No such file or directory\n')
    assert run('blur', tmp_path / 'absent') == (1, '', f'blurd: cannot read {tmp_path}/absent: No such file or directory\n')
    code, output, errors = run('crop?width=100&height=100&x=0&y=0', small)
    assert (code, output) == (1, '') and errors.startswith('blurd: small.jpeg: HTTP/1.1 4')


def test_files_that_are_none(tmp_path, small):
    text = tmp_path / 'text'
    text.write_text('this is no picture')
    assert run(tmp_path / 'absent') == (1, '', f'blurd: cannot read {tmp_path}/absent: No such file or directory\n')
    code, output, errors = run(small, text)
    assert (code, output) == (1, '') and errors.startswith(f'blurd: {text}: ')
    assert run(*17 * [small]) == (1, '', 'blurd: --benchmark takes up to 16 files\n')


def test_answers_that_are_no_pictures(small):
    code, _, errors = daemon.run('--gpus', 'none', '--max-pixels', '100', '--benchmark', small)
    assert code == 1 and errors.startswith('blurd: small.jpeg: HTTP/1.1 422') and 'the limit is 100' in errors


def test_what_it_does_not_measure(tmp_path, small):
    tokens = tmp_path / 'tokens'
    tokens.write_text('a-token-of-sixteen-letters\n')
    assert daemon.run('--token-file', tokens, '--benchmark', small) == (1, '', 'blurd: --benchmark sends no token: leave token_file out\n')
    assert daemon.run('--tls-cert', 'a', '--tls-key', 'b', '--benchmark', small) == (
        1, '', 'blurd: --benchmark measures without TLS: leave tls_cert and tls_key out\n')


def test_options_stand_before_it(small):
    code, _, errors = run('--workers', '1')
    assert code == 1 and errors == 'blurd: cannot read --workers: No such file or directory\n'
