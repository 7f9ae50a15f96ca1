# SPDX-License-Identifier: MIT
"""Each kind of metadata between any two formats: the table of docs/api.md, row by row."""

import pathlib
import re
import struct
import subprocess
import tempfile
import zlib

import pytest

import anatomy
import foreign
import pictures
from metadata_kinds import CANARY, KINDS, blob, text, tiff

API = pathlib.Path(__file__).resolve().parents[2] / 'docs/api.md'
COLUMNS = {('jpeg', 'jpeg'): 1, ('jpeg', 'png'): 2, ('png', 'png'): 3, ('png', 'jpeg'): 4, ('jpeg', 'webp'): 5, ('jpeg', 'avif'): 5, ('jpeg', 'jxl'): 5,
           ('png', 'webp'): 6, ('png', 'avif'): 7, ('png', 'jxl'): 7}
PAIRS = tuple(COLUMNS)


# --- the table -----------------------------------------------------------------------------------
def read_table():
    """{row: [cell for strip, cells for keep in the order of COLUMNS]}"""
    text = API.read_text().split('<!-- metadata -->')[1].split('<!-- end of metadata -->')[0]
    rows = [[cell.strip() for cell in line.strip('|').split('|')] for line in text.strip().splitlines()]
    return {row[0]: row[1:] for row in rows[2:]}


TABLE = read_table()


# --- content of an answer ------------------------------------------------------------------------------
def has_canary(data):
    inside = [zlib.decompress(p[p.index(0) + 2:]) for tag, p in anatomy.chunks(data) if tag == 'iCCP'] if data[:1] == b'\x89' else []
    return CANARY in b''.join([data, *inside]) or CANARY in data.replace(b'\0', b'')


def density(data):
    """Whether it has one, which then is that of the input, wherever it is written."""
    if data[:1] == b'\x89':
        found = dict(anatomy.chunks(data))
        said = [found['pHYs'] == struct.pack('>IIB', 11811, 11811, 1)] if 'pHYs' in found else []
        exif = found.get('eXIf')
    elif data[:2] != b'\xff\xd8':  # WebP and AVIF
        at = max(data.find(b'II*\0'), data.find(b'MM\0*'))
        said, exif = [], data[at:] if at >= 0 else None
    else:
        jfif = dict(anatomy.segments(data))[0xE0]
        said = [jfif[7:12] == b'\1\1\x2c\1\x2c'] if jfif[7] else []
        exif = anatomy.exif_of(data)
    if exif and 0x11A in anatomy.tags(exif)[0]:
        said.append(any(struct.pack(order + 'II', *ratio) in exif for order in '<>' for ratio in ((300, 1), (11811, 100))))
    assert all(said), said
    return bool(said)


def has_chunk(*tags):
    return lambda data: data[:1] == b'\x89' and any(tag in tags for tag, _ in anatomy.chunks(data))


def has_profile(data):
    return any(name in data for name in (b'ICC_PROFILE', b'ICCP', b'colrprof'))


def has_code(data):
    """Primaries and transfer of the code that metadata_kinds writes, or a profile that says the same."""
    return b'colrnclx\0\x0c\0\x0d' in data if data[4:8] == b'ftyp' else has_chunk('cICP')(data) or has_profile(data)


def jxlinfo(data):
    with tempfile.NamedTemporaryFile(suffix='.jxl') as file:
        file.write(data)
        file.flush()
        return subprocess.run(['jxlinfo', '-v', file.name], capture_output=True, text=True, check=True).stdout


def by_libjxl(row, data):
    """What a JPEG XL says of colours, which its codestream has in a form of its own. djxl 0.7 gives sRGB as a code and a profile, later ones
    give codes as a profile alone, so that jxlinfo tells the code."""
    if row == 'cICP':
        return 'P3 primaries, sRGB transfer' in jxlinfo(data)
    found = dict(anatomy.chunks(foreign.read_png('jxl', data)))
    return 'cICP' not in found if row == 'gAMA, cHRM' else CANARY in zlib.decompress(found['iCCP'][found['iCCP'].index(0) + 2:])


SEEN = {'resolution': density, 'time of change': has_chunk('tIME'), 'sRGB': has_chunk('sRGB'), 'cICP': has_code,
        'gAMA, cHRM': lambda data: has_chunk('gAMA', 'cHRM')(data) or has_profile(data)}


def need_format(server, target):
    if target not in server.get('/version').json()['formats']['writes']:
        pytest.skip(f'this build does not write {target}')


def is_seen(row, data):
    if foreign.kind_of(data) == 'jxl' and row in ('cICP', 'gAMA, cHRM', 'ICC profile', 'ICC profile: all but colours and name'):
        return by_libjxl(row, data)
    return SEEN.get(row, has_canary)(data)


def check(server, row, body, target, mode, cell):
    answer = server.post(f'/blur?sigma=1&format={target}&metadata={mode}', body)
    assert answer.status_code == 200, answer.text
    said = answer.headers.get('X-Metadata-Dropped', '').split(', ')
    dropped = re.fullmatch(r'dropped: ([a-z0-9-]+)', cell)
    assert is_seen(row, answer.content) == (cell == 'kept'), cell
    assert said == ([dropped[1]] if dropped else ['']), said


def test_the_table_is_tried():
    assert list(TABLE) == list(KINDS)


@pytest.mark.parametrize('row', KINDS)
@pytest.mark.parametrize('pair', PAIRS, ids=('-to-'.join(p) for p in PAIRS))
def test_keep(server, row, pair):
    cell = TABLE[row][COLUMNS[pair]]
    need_format(server, pair[1])
    bodies = KINDS[row].get(pair[0], [])
    assert bool(bodies) == (cell != 'none')
    for body in bodies:
        check(server, row, body, pair[1], 'keep', cell)


@pytest.mark.parametrize('row', KINDS)
@pytest.mark.parametrize('pair', PAIRS, ids=('-to-'.join(p) for p in PAIRS))
def test_strip(server, row, pair):
    cell = TABLE[row][0]
    need_format(server, pair[1])
    if cell.startswith('kept in'):
        cell = 'kept' if pair[1].upper() in cell else 'left out'
    assert cell in ('kept', 'left out', 'dropped: pictures')
    for body in KINDS[row].get(pair[0], [])[:6]:
        check(server, row, body, pair[1], 'strip', cell)


NAMES = {'EXIF: listed tags': 'exif', 'XMP: listed namespaces': 'xmp', 'IPTC: listed datasets': 'iptc', 'ICC profile': 'colour', 'gAMA, cHRM': 'colour', 'cICP': 'colour',
         'resolution': 'resolution', 'comment': 'text', 'other texts': 'text', 'time of change': 'other'}


@pytest.mark.parametrize('row', NAMES)
@pytest.mark.parametrize('kind', ('jpeg', 'png'))
def test_a_gif_has_no_place(server, row, kind):
    """What other formats keep is named."""
    for body in KINDS[row].get(kind, []):
        answer = server.post('/blur?sigma=1&format=gif&metadata=keep', body)
        assert answer.status_code == 200 and not has_canary(answer.content)
        assert NAMES[row] in answer.headers['X-Metadata-Dropped'].split(', ')


@pytest.mark.parametrize('regions', ('', '&region=1,1,5,5'))
def test_the_patched_jpeg_is_no_other(server, regions):
    """A JPEG of which only some blocks are rewritten takes a different path."""
    for row, kinds in KINDS.items():
        for body in kinds.get('jpeg', [])[:4]:
            for mode in ('strip', 'keep'):
                answer = server.post(f'/blur?sigma=1&metadata={mode}{regions}', body)
                cell = TABLE[row][1 if mode == 'keep' else 0]
                assert SEEN.get(row, has_canary)(answer.content) == (cell == 'kept'), (row, mode)


def test_all_losses_at_once(server):
    photo = [blob(0x927C), blob(0xFDE8)]
    exif = b'Exif\0\0' + tiff('<', main=[text(0x10F), blob(0x83BB), blob(0x201)], photo=photo)
    body = pictures.with_segments(pictures.small_jpeg(), (0xE1, exif), (0xE1, pictures.XMP_NAME + b'no packet'), (0xE2, b'MPF\0'), (0xEB, b'JP'),
                                  (0xE2, b'ICC_PROFILE\0\1\1none'), (0xFE, b'\1'), (0xE9, b''))
    for target in '/blur?sigma=1', '/pixelate?block=2', '/blur?sigma=1&region=0,0,9,9':
        answer = server.post(target + '&metadata=keep', body)
        assert answer.headers['X-Metadata-Dropped'] == 'exif, maker-note, thumbnail, xmp, iptc, colour, text, pictures, c2pa, other'
        assert server.post(target, body).headers['X-Metadata-Dropped'] == 'colour, pictures'


def test_resolution_turns_with_the_picture(server):
    sample = pictures.photograph(24, 16)
    for orientation in (1, 3, 5, 6, 8):
        body = pictures.png(sample, before=[('pHYs', struct.pack('>IIB', 2835, 11811, 1)), ('eXIf', pictures.exif(orientation, extras=False))])
        for turned in (True, False):
            answer = server.post(f'/blur?sigma=1&metadata=keep&format=jpeg&autorotate={str(turned).lower()}', body)
            jfif = dict(anatomy.segments(answer.content))[0xE0]
            numbers = struct.unpack('>BHH', jfif[7:12])
            assert numbers == ((1, 300, 72) if turned and orientation >= 5 else (1, 72, 300))


def test_the_size_in_exif_is_the_answer_s(server):
    for order in '<>':
        old = [(tag, 4, 1, struct.pack(order + 'I', 4711)) for tag in (0xA002, 0xA003)]
        body = pictures.with_segments(pictures.jpeg(pictures.photograph(40, 24)),
                                      (0xE1, b'Exif\0\0' + tiff(order, main=[(0x112, 3, 1, struct.pack(order + 'H', 6))], photo=old)))
        exif = anatomy.exif_of(server.post('/blur?sigma=1&metadata=keep', body).content)
        assert struct.pack(order + 'HHII', 0xA002, 4, 1, 24) in exif and struct.pack(order + 'HHII', 0xA003, 4, 1, 40) in exif


def test_the_first_of_two_counts(server):
    one, two = pictures.exif(6, extras=False), pictures.exif(3, extras=False)
    sample = pictures.photograph(40, 24)
    for body in (pictures.png(sample, before=[('eXIf', one), ('eXIf', two)]), pictures.png(sample, before=[('eXIf', one)], after=[('eXIf', two)]),
                 pictures.with_segments(pictures.jpeg(sample), (0xE1, b'Exif\0\0' + one), (0xE1, b'Exif\0\0' + two))):
        answer = server.post('/blur?sigma=1&metadata=keep&format=png', body)
        assert anatomy.png_header(answer.content)[:2] == (24, 40)
        assert answer.headers['X-Metadata-Dropped'] == 'exif'
