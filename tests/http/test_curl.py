# SPDX-License-Identifier: MIT
"""What the daemon says of bodies that curl sends with -d, which takes line ends and zeros out of them, and with --data-binary."""

import gzip
import json
import shutil
import subprocess

import pytest

import pictures

pytestmark = pytest.mark.skipif(not shutil.which('curl'), reason='curl is not installed')


def curl(server, tmp_path, body, *options):
    """What the daemon says of a body that curl sends as README tells, or with -d: both are called a form."""
    path = tmp_path / 'picture'
    path.write_bytes(body)
    said = [subprocess.run(['curl', '-s', kind, f'@{path}', *options, server.url('/blur?sigma=2')], capture_output=True, check=True, timeout=60).stdout
            for kind in ('-d', '--data-binary')]
    return [text if text[:1] != b'{' else json.loads(text)['detail'] for text in said]


BROKEN = {'half a JPEG': lambda: pictures.small_jpeg()[:400], 'a damaged PNG': lambda: pictures.small_png()[:-40],
          'no picture': lambda: b'\xfe\0\r\n' * 9, 'the begin of a WebP': lambda: b'RIFF\x10\0\0\0WEBPVP8 '}
FOREIGN = {'Photoshop': lambda: b'8BPS' + bytes(20), '12 bits': lambda: pictures.small_jpeg().replace(b'\xff\xc0\0\x11\x08', b'\xff\xc0\0\x11\x0c'),
           'gzip data': lambda: gzip.compress(pictures.small_jpeg()), 'JSON': lambda: b'{"image": 1}'}


@pytest.mark.parametrize('kind', BROKEN)
def test_what_curl_leaves_out_of_a_picture(server, tmp_path, kind):
    """With -d line ends and zeros, which damages any picture. What is broken without that is not blamed on it."""
    stripped, whole = curl(server, tmp_path, BROKEN[kind]())
    assert stripped.endswith("the body has neither line ends nor zeros, which curl's -d takes out: use --data-binary")
    assert '--data-binary' not in whole and whole


@pytest.mark.parametrize('kind', FOREIGN)
def test_what_no_other_option_of_curl_mends(server, tmp_path, kind):
    body = FOREIGN[kind]()
    stripped, whole = curl(server, tmp_path, body)
    assert kind in whole and '--data-binary' not in whole
    assert '--data-binary' not in stripped or kind == '12 bits', 'of a JPEG, the damage is found first'
    for said in curl(server, tmp_path, body, '-H', 'Content-Encoding: gzip'):
        assert said == 'Content-Encoding gzip is not supported; send the picture without it'


@pytest.mark.parametrize('whole', (pictures.small_jpeg, pictures.small_png))
def test_a_whole_picture_that_curl_sends(server, tmp_path, whole):
    stripped, answer = curl(server, tmp_path, whole())
    assert '--data-binary' in stripped
    assert answer[:8] == server.post('/blur?sigma=2', whole()).content[:8], 'it is taken, whatever it is called'
