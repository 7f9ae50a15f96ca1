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
