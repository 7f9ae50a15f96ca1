# SPDX-License-Identifier: MIT
"""What a redacted word still tells: the number of different answers for 50 of a kind at the same place."""

import collections
import concurrent.futures
import io
import math

import numpy
from PIL import Image

import made
import shots

GRID = 16
BLACK = 32  # letters are lighter, tiles of a redacted region are not
SIZE = 720, 128  # of a picture, a multiple of the grid
REDACT = f'/pixelate?block={GRID}&detect=text&mode=redact&fill=000000'
PHASES = [(x, 0) for x in range(GRID)] + [(0, y) for y in range(1, GRID)]  # the first is the place that is told apart
# What stands around a word: pages of 15 px. Each is as high as SIZE, so that a screenshot has all words one below the other.
LAYOUTS = {
    'lone cell': '<p style="left: 200px; top: 48px">{}</p>',
    'in a line': '<p style="left: 32px; top: 48px">Dear {}, your account was changed today, please have a look</p>',
    "line's end": '<p style="left: 32px; top: 48px">Please send your reply about that to {}</p>',
    'in a block': '<p style="left: 32px; top: 32px; width: 620px">The account was changed today, and a letter is on its way to you, so that<br>'
                  'we ask {} to look at it before the end of this month<br>and to tell us by return of post whether all of it is as it should be.</p>',
    'right-aligned column': '<p style="left: 200px; top: 32px; width: 160px; text-align: right">4,103.20<br>{}<br>87.55</p>',
}


def kinds():
    make = made.Maker(4)
    numbers = [f'{number:04}' for number in make.random.sample(range(10000), 50)]
    return {'names': made.NAMES[:50], 'PINs': numbers, 'amounts': [make.amount() for _ in range(50)]}


def rendered(driver, folder, layout, values):
    """A picture of each value."""
    width, height = SIZE
    rows = ''.join(f'<div>{LAYOUTS[layout].format(value)}</div>' for value in values)
    style = (f'body {{ margin: 0; font: 15px/1.5 sans-serif; color: #222; background: #fff }} p {{ position: absolute; margin: 0; white-space: nowrap }}'
             f'div {{ position: relative; width: {width}px; height: {height}px; overflow: hidden }}')
    path = folder / 'privacy.html'
    path.write_text(f'<!doctype html><meta charset=utf-8><style>{style}</style><body>{rows}', encoding='utf-8')
    shots.show(driver, width, height * len(values), 1)
    driver.get(path.as_uri())
    whole = shots.pixels(shots.capture(driver)).astype(numpy.uint8)
    return [whole[height * i:height * (i + 1)] for i in range(len(values))]


def moved(picture, x, y):
    """The picture with white before it, as large as before."""
    out = numpy.full_like(picture, 255)
    out[y:, x:] = picture[:picture.shape[0] - y, :picture.shape[1] - x]
    return out


def asked(served, picture):
    """(the answer, [left, top, right, bottom] of what is black, whether all ink is hidden)"""
    body = io.BytesIO()
    Image.fromarray(picture).save(body, 'PNG', compress_level=1)
    answer = served.post(REDACT, body.getvalue())
    answer.raise_for_status()
    pixels = numpy.asarray(Image.open(io.BytesIO(answer.content)).convert('L'))
    black = pixels < BLACK
    rows, columns = numpy.flatnonzero(black.any(1)), numpy.flatnonzero(black.any(0))
    edges = (columns[0], rows[0], columns[-1] + 1, rows[-1] + 1) if len(rows) else (0, 0, 0, 0)
    return answer.content, edges, not ((pixels < 250) & ~black).any()


def bits(answers):
    return sum(-n / len(answers) * math.log2(n / len(answers)) for n in collections.Counter(answers).values())


def group(served, pictures, every):
    """[(classes, bits, number of different edges, not hidden)] of each phase."""
    out = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for phase in PHASES[::every]:
            results = list(pool.map(lambda picture, phase=phase: asked(served, moved(picture, *phase)), pictures))
            answers = [answer for answer, _, _ in results]
            edges = [len(set(side)) for side in zip(*(edges for _, edges, _ in results))]
            out.append((len(set(answers)), bits(answers), edges, sum(not hidden for _, _, hidden in results)))
    return out


def measure(served, driver, folder, every):
    print('| 50 | layout | classes at one place | bits there | classes at all phases, least to most | bits, mean | bits, most | phases with one class '
          '| left, upper, right, lower edges, most | words not hidden |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|')
    for kind, values in kinds().items():
        for layout in LAYOUTS:
            found = group(served, rendered(driver, folder, layout, values), every)
            classes, entropy = [one[0] for one in found], [one[1] for one in found]
            edges = ', '.join(str(max(side)) for side in zip(*(one[2] for one in found)))
            print(f'| {kind} | {layout} | {classes[0]} | {entropy[0]:.2f} | {min(classes)} to {max(classes)} | {sum(entropy) / len(entropy):.2f} '
                  f'| {max(entropy):.2f} | {classes.count(1)} of {len(classes)} | {edges} | {sum(one[3] for one in found)} of {50 * len(found)} |', flush=True)
