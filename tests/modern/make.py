# SPDX-License-Identifier: MIT
"""Writes manifest.tsv: what is expected of each file of ../shared/modern.

    tests/python.sh tests/modern/make.py           writes it, from the decoders and decisions.tsv
    tests/python.sh tests/modern/make.py --check   says what would change
    tests/python.sh tests/modern/make.py --truth   only runs the decoders, for tests that come later

Files that the decoder of their format reads are expected to give 200 and its pixels, others 400. decisions.tsv has
the exceptions. Columns of the manifest, where - is nothing:

    name       of the file
    status     statuses that pass, with commas
    format     webp, avif or heic: which decoder judges
    width, height, channels, depth    of the upright picture as PNG; also of an animation's first frame
    pixels     digest of the samples by the decoders of Debian 12; those of others may differ a little
    word       the detail of a refusal contains it
    note       why, where a decoder disagrees"""

import concurrent.futures
import csv
import fnmatch
import os
import pathlib
import sys

import truth

MODERN = pathlib.Path(os.environ.get('MODERN') or truth.ROOT.parent / 'shared/modern')
HERE = pathlib.Path(__file__).resolve().parent
MANIFEST, DECISIONS = HERE / 'manifest.tsv', HERE / 'decisions.tsv'
COLUMNS = ('name', 'status', 'format', 'width', 'height', 'channels', 'depth', 'pixels', 'word', 'note')
ANIMATED = ('webp', 'avif')  # all frames of these are answered, as APNG where PNG is asked for
SECOND = {'webp': None, 'avif': 'heic', 'heic': None}  # another decoder that may know better


def files():
    return sorted(path for path in MODERN.iterdir() if path.suffix in ('.webp', '.avif', '.avifs', '.heic', '.heif'))


def rows():
    """The rows of the manifest as dictionaries."""
    with MANIFEST.open(encoding='utf-8') as file:
        found = list(csv.DictReader(file, delimiter='\t', quoting=csv.QUOTE_NONE))
    return [{column: '' if value == '-' else value for column, value in one.items()} for one in found]


def decisions():
    lines = DECISIONS.read_text(encoding='utf-8').splitlines()
    rows_of_four = [line.split('\t') for line in lines if line and not line.startswith('#')]
    return [[pattern, status, '' if word == '-' else word, reason] for pattern, status, word, reason in rows_of_four]


def shape(found):
    """width, height, channels and depth: a file without colour planes gives a grey picture."""
    height, width, channels = found.samples.shape
    if found.grey:
        channels -= 2 * (channels > 2)
    return {'width': width, 'height': height, 'channels': channels, 'depth': truth.depth(found.samples), 'pixels': truth.digest(found.samples)}


def opinion(path, kind, complaint):
    """What the decoders say of a file that the first of them refuses."""
    other = SECOND[kind] and truth.decode(path, SECOND[kind])
    return f'{complaint}; heif-convert reads it' if other and other.samples is not None else complaint


def row(path):
    kind = truth.kind(path.read_bytes())
    found = truth.decode(path)
    made = dict.fromkeys(COLUMNS, '')
    made.update(name=path.name, format=kind, status=200)
    if found.samples is None:
        made.update(status=400, note=opinion(path, kind, found.complaint))
    else:
        made.update(shape(found))
    if found.frames > 1:
        made.update(note=f'an animation of {found.frames} frames')
        if kind not in ANIMATED:
            made.update(status=415, word='page=0')
    decided = [one for one in decisions() if fnmatch.fnmatch(path.name, one[0])]
    if decided:
        _, status, word, reason = decided[-1]
        made.update(status=status, word=word, note=f'{made["note"]}; {reason}'.strip('; '))
    return '\t'.join(str(made[column]) or '-' for column in COLUMNS)


def main():
    if truth.missing():
        sys.exit(f'not installed: {", ".join(truth.missing())}')
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        if '--truth' in sys.argv[1:]:
            list(pool.map(truth.prepare, files()))
            return
        text = '\n'.join(['\t'.join(COLUMNS), *pool.map(row, files()), ''])
    if '--check' in sys.argv[1:]:
        old, new = (set(text.splitlines()) for text in (MANIFEST.read_text(encoding='utf-8'), text))
        print('\n'.join([*(f'- {line}' for line in sorted(old - new)), *(f'+ {line}' for line in sorted(new - old))]))
        sys.exit(old != new)
    MANIFEST.write_text(text, encoding='utf-8')


if __name__ == '__main__':
    main()
