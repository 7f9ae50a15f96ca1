# SPDX-License-Identifier: MIT
"""Every file of the corpus through POST /blur?sigma=2: an accepted status, a picture that can be
read and is upright, and a daemon that goes on. CORPUS=folder; default ../shared/corpus."""

import concurrent.futures
import csv
import io
import os
import pathlib
import re
import time
import warnings

import pytest
import requests
from PIL import Image

import daemon
import pictures

CORPUS = pathlib.Path(os.environ.get('CORPUS') or daemon.ROOT.parent / 'shared/corpus')
MANIFEST = CORPUS / 'MANIFEST.tsv'
LONG = 1.0  # seconds; longer ones are printed
CLIENTS = 2 if daemon.SANITIZED else 4  # more than slow workers take at once, and large pictures are refused
NEWER = {'webp': 'webp', 'isobmff:avif': 'avif', 'isobmff:heic': 'heic', 'tiff': 'tiff', 'bmp': 'bmp', 'jxl': 'jxl', 'gif': 'gif'}  # the manifest was made when they were not read
DAMAGED = {'hostile/corrupt/pillow_apng_chunk_no_fdat.png', 'hostile/corrupt/pillow_apng_sequence_gap.png'}  # animations, of which no part is answered
EITHER_WAY = {'formats/exif/orientation6_as_long.jpg'}  # browsers ignore an orientation of this type, Pillow does not


def rows():
    if not MANIFEST.exists():
        return []
    with MANIFEST.open(encoding='utf-8') as file:
        return list(csv.DictReader(file, delimiter='\t', quoting=csv.QUOTE_NONE))


ROWS = rows()


def upright_size(row):
    size = int(row['width']), int(row['height'])
    turned = re.search(r'\borient=([5-8])\b', row['format_detail'])
    return size[::-1] if turned else size


def decoded_size(body):
    """Of a picture that decodes completely."""
    Image.MAX_IMAGE_PIXELS = None
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        with Image.open(io.BytesIO(body)) as picture:
            picture.load()
            return picture.size


def patient(session, url, body):
    """The answer; asked again when it says so, as the other clients may have had the time."""
    for _ in range(3):
        answer = session.post(url, body, timeout=30 * daemon.SLOW)
        if answer.status_code != 503:
            break
        time.sleep(int(answer.headers['Retry-After']))
    return answer


def ask(session, server, row):
    """(status, seconds, complaint)"""
    body = (CORPUS / row['path']).read_bytes()
    target = '/blur?sigma=2' + ('&format=png' if row['format_detail'] in NEWER else '')
    begin = time.monotonic()
    try:
        answer = patient(session, server.url(target), body)
    except requests.RequestException as error:
        return None, time.monotonic() - begin, f'no answer: {error}'
    seconds = time.monotonic() - begin
    complaint = None
    if answer.status_code == 200:
        try:
            size = decoded_size(answer.content)
            if row['width'] and size != upright_size(row) and row['path'] not in EITHER_WAY:
                complaint = f'the answer is {size}, not {upright_size(row)}'
        except Exception as error:
            complaint = f'the answer cannot be decoded: {error}'
    elif answer.headers.get('Content-Type') != 'application/problem+json' or not answer.json().get('detail'):
        complaint = f'no explanation: {answer.content[:200]}'
    if session.post(server.url('/blur'), pictures.small_jpeg(), timeout=30 * daemon.SLOW).status_code != 200:
        complaint = 'the next good request failed'
    return answer.status_code, seconds, complaint


@pytest.fixture(scope='module')
def outcomes(request):
    """Asks for all files that will be judged, some at a time, before the first of them is."""
    found = {'reads': []}
    rows = [item.callspec.params['row'] for item in request.session.items if getattr(item, 'originalname', '') == test_file.__name__]
    with daemon.Daemon() as server, concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        sessions = [requests.Session() for _ in range(CLIENTS)]
        found['reads'] = server.get('/version').json()['formats']['reads']

        def work(number):
            for row in rows[number::CLIENTS]:
                found[row['path']] = ask(sessions[number], server, row)

        list(pool.map(work, range(CLIENTS)))
        for session in sessions:
            session.close()
    return found


@pytest.mark.skipif(not ROWS, reason=f'no corpus at {CORPUS}: its files were not tried')
@pytest.mark.parametrize('row', ROWS, ids=[row['path'] for row in ROWS])
def test_file(outcomes, row, say):
    status, seconds, complaint = outcomes[row['path']]
    if seconds > LONG:
        say(f'{seconds:.1f} s: {row["path"]} ({status})')
    assert not complaint
    accepted = row['accept_status'].split(',')
    if NEWER.get(row['format_detail']) in outcomes['reads']:
        accepted.append('200')
    if row['path'] in DAMAGED:
        accepted = ['400']
    assert str(status) in accepted, f'{row["expected"]}: {row["note"] or row["format_detail"]}'
