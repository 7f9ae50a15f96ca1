# SPDX-License-Identifier: MIT
"""Formats that predict pixels from others carry what is hidden beyond it before the daemon sees the file: the answer says so. Formats
that do not give the same bytes outside, whatever is hidden: bench/redact_spread.py measures that pair by pair."""

import sys

import pytest

import daemon
import foreign
import pictures

sys.path.insert(0, str(daemon.ROOT / 'bench'))
import redact_spread  # noqa: E402

PIXELS = pictures.photograph(96, 64)
REGION = '&region=32,16,16,16'
TRACES = 'the lossy coding of the input may have left traces of what is hidden in pixels around it'
FILES = {  # name: format, lossy
    'png': ('png', False, lambda: pictures.png(PIXELS)), 'jpeg': ('jpeg', False, lambda: pictures.jpeg(PIXELS)),
    'webp': ('webp', True, lambda: foreign.write('webp', PIXELS)), 'webp exact': ('webp', False, lambda: foreign.write('webp', PIXELS, '-lossless')),
    'webp with alpha': ('webp', True, lambda: foreign.write('webp', pictures.photograph(96, 64, 4))),
    'avif': ('avif', True, lambda: foreign.write('avif', PIXELS)),
    'avif exact': ('avif', True, lambda: foreign.write('avif', PIXELS, '--lossless')),  # as far as its header tells
    'heic': ('heic', True, lambda: foreign.write('heic', PIXELS)),
}


@pytest.mark.parametrize('name', FILES)
def test_the_answer_says_so(server, name):
    kind, lossy, make = FILES[name]
    if kind not in server.get('/version').json()['formats']['reads']:
        pytest.skip(f'built without {kind}')
    body = make()
    for target in ('/pixelate?format=png', '/blur?sigma=3', '/pipeline?ops=blur|crop:width=50%25', '/resize?width=40'):
        own = '&format=jpeg' if kind == 'heic' and 'format' not in target else ''
        answer = server.post(f'{target}{own}&mode=redact{REGION}', body)
        assert answer.status_code == 200, answer.text
        assert answer.headers.get('X-Blurd-Notice') == (TRACES if lossy else None), target
    cut = server.post(f'/pixelate?format=png&mode=redact{REGION}&region=90,60,20,20', body)
    assert ('; cut by its border: 1;' in cut.headers['X-Blurd-Notice']) and cut.headers['X-Blurd-Notice'].endswith('; ' + TRACES) == lossy
    for target in ('/pixelate?format=png&mode=redact', f'/pixelate?format=png{REGION}'):
        assert 'X-Blurd-Notice' not in server.post(target, body).headers, 'nothing is left, or nothing is hidden'


@pytest.mark.parametrize('name', [name for name in redact_spread.INPUTS if 'JPEG' in name or 'lossless' in name])
def test_what_spreads_nothing(server, tmp_path, name):
    suffix, command = redact_spread.INPUTS[name]
    if command and (not redact_spread.shutil.which(command[0]) or suffix[1:] not in server.get('/version').json()['formats']['reads']):
        pytest.skip(f'no {command[0]}, or built without {suffix}')
    bodies = [redact_spread.encoded(redact_spread.page(digit), suffix, command, tmp_path) for digit in (1, 4, 8)]
    assert redact_spread.measure(server, bodies)[:3] == (0, 0, 0)


def test_a_spread_is_seen(server):
    """So the test above can fail: one other pixel outside."""
    bodies = []
    for place in (3, 4):
        picture = redact_spread.page(8)
        picture.putpixel((place, place), (1, 2, 3))
        bodies.append(redact_spread.encoded(picture, '.jpg', None, None))
    assert redact_spread.measure(server, bodies)[0] == 1
