# SPDX-License-Identifier: MIT
"""Number plates on photographs that were marked by hand, and pictures without any (plates.json).

The pictures belong to others and are not here: the table names repository, commit, object, hash and licence of each, and they are
looked for by hash or fetched. Those of openalpr/benchmarks are under the AGPL: they are measured, and no part of anything. git's name
of the object stands for the path, since paths are often what is written on the plate. None of these pictures trains anything.

A plate is left, top, width and height in pixels of the upright picture, from edge to edge of the plate without the dealer's frame,
and letters: n night, t turned to a side or tilted, p partly hidden or cut by the edge of the picture, k on a truck, bus or van. `unclear` are
places where a plate cannot be read, is too small, or may be one: boxes there are not counted. `signs` are road and shop signs,
advertising, stickers, numbers of vehicles and time stamps. `kind` is the set: EU (Slovakia, Czechia and others), BR, US, RO
(a dash camera in Romania), or pictures without plates: street, people, writing.

The boxes of EU, BR, US and RO are those of their authors; each was looked at, one that was beside its plate was moved, tilted ones were
widened, and those of RO, which have wide edges, were narrowed. Plates of other cars, and `signs`, were proposed by the text
detector at two sizes and taken or dropped by eye, those of RO by eye in each picture too. A far plate that neither found is
missing. Pictures of RO are at least three seconds apart, and from rides and times that training leaves out (HELD_OUT)."""

import hashlib
import json
import math
import pathlib
import subprocess
import sys

import numpy

import marked

# RobertLucian/license-plate-dataset: name of a ride -> from and to which second its pictures are only for the test. 101 of 534.
HELD_OUT = {'dayride_type1_002.mp4': (0, math.inf), 'dayride_type1_003.mp4': (0, math.inf), 'nightride_type3_001.mp4': (300, math.inf)}

SETS = 'EU', 'BR', 'US', 'RO'
WITHOUT = {'street': 'streets and places', 'people': 'people and rooms', 'writing': 'signs, screens and papers'}
HEIGHTS = 10, 14, 24, 48, 96, 10**6
LEAST = 14, 24  # pixels of height from which all plates are counted together
SHARES = 0.98, 0.90  # of a plate's area: then it is hidden
FORMS = {'seen from the front': '', 'turned or tilted': 't', 'partly hidden or cut': 'p', 'on a truck, bus or van': 'k'}
LIGHTS = {'day': '', 'night': 'n'}
MINUTE = 60  # pictures of one ride within a minute are of the same half


def held_out(path):
    """Whether a picture of license-plate-dataset, whose name is like dayride_type1_001.mp4#t=1054.jpg, is only for the test."""
    ride, _, second = pathlib.PurePosixPath(path).name.partition('#t=')
    first, last = HELD_OUT.get(ride, (math.inf, 0))
    return first <= int(second.partition('.')[0]) < last


def entries(half='all'):
    """All entries of the table, or a half: thresholds are chosen on `tune` and stated for `judge`."""
    table = json.loads(pathlib.Path(__file__).with_suffix('.json').read_text(encoding='utf-8'))
    return [entry for entry in table if half in ('all', half_of(entry))]


def half_of(entry):
    ride, _, second = entry.get('ride', '').partition(' ')
    name = hashlib.sha256(f'{ride} {int(second) // MINUTE}'.encode()).hexdigest() if ride else entry['sha256']
    return 'tune' if int(name[0], 16) < 8 else 'judge'


def present(folder, half='all'):
    """The entries and their pictures' bytes: of a file below the folder, whose name does not matter, or fetched into it."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in sorted(folder.rglob('*'))
             if path.suffix.lower() in ('.jpg', '.jpeg', '.png') and path.is_file()}
    for entry in entries(half):
        if entry['sha256'] not in files:
            try:
                data = marked.fetch(entry, folder)
            except subprocess.CalledProcessError:
                print(f"absent: {entry['blob']} of {entry['repository']} at {entry['commit']}", file=sys.stderr)
                continue
            assert hashlib.sha256(data).hexdigest() == entry['sha256'], entry
            files[entry['sha256']] = folder / f"{entry['sha256']}.jpg"
            files[entry['sha256']].write_bytes(data)
        yield entry, files[entry['sha256']].read_bytes()


def grown(box, margin):
    """A box (x, y, width, height, score) with a margin in percent of its sides, as detect_margin gives it."""
    x, y, width, height = box[:4]
    return x - width * margin / 100, y - height * margin / 100, width * (1 + margin / 50), height * (1 + margin / 50)


def covered(plate, boxes):
    """The share of a plate's pixels that boxes cover; a pixel is covered if its middle is."""
    left, top, width, height = plate[:4]
    mask = numpy.zeros((height, width), dtype=bool)
    for x, y, wide, high in boxes:
        columns = [min(max(math.ceil(edge - left - 0.5), 0), width) for edge in (x, x + wide)]
        lines = [min(max(math.ceil(edge - top - 0.5), 0), height) for edge in (y, y + high)]
        mask[lines[0]:lines[1], columns[0]:columns[1]] = True
    return mask.mean()


def is_wrong(box, entry):
    """Whether a box, without its margin, is on no plate and on no unclear place."""
    return not any(marked.overlap(box, other) for other in (*entry['plates'], *entry['unclear']))


def is_sign(box, entry):
    """Whether half of a box is on a sign, or half of a sign in it."""
    return any(marked.overlap(box, sign) >= min(box[2] * box[3], sign[2] * sign[3]) / 2 for sign in entry['signs'])


def wilson(hits, number, z=1.96):
    """The interval that has the true share with a probability of 95 %."""
    if not number:
        return 0, 1
    share, more = hits / number, z * z / number
    middle, half = share + more / 2, z * math.sqrt(share * (1 - share) / number + more / 4 / number)
    return max(0, (middle - half) / (1 + more)), min(1, (middle + half) / (1 + more))


class Tally:
    """What a query hides, and its boxes elsewhere."""

    def __init__(self, margin):
        self.margin = margin
        self.plates = []  # (kind, plate, covered share)
        self.pictures = []  # (kind, wrong boxes, boxes on signs, signs, boxes)

    def add(self, entry, boxes):
        wide = [grown(box, self.margin) for box in boxes]
        self.plates += [(entry['kind'], plate, covered(plate, wide)) for plate in entry['plates']]
        wrong = [box for box in boxes if is_wrong(box, entry)]
        self.pictures.append((entry['kind'], len(wrong), sum(is_sign(box, entry) for box in wrong), len(entry['signs']), len(boxes)))

    def recall(self, wanted, share):
        hidden = [part >= share for kind, plate, part in self.plates if wanted(kind, plate)]
        if not hidden:
            return '-'
        low, high = wilson(sum(hidden), len(hidden))
        return f'{sum(hidden) / len(hidden):.3f} ({low:.2f} to {high:.2f})'

    def number(self, wanted):
        return sum(wanted(kind, plate) for kind, plate, _ in self.plates)

    def wrong(self, kinds):
        """Pictures, wrong boxes of each, the share that has any."""
        counts = [row[1] for row in self.pictures if row[0] in kinds]
        return len(counts), numpy.mean(counts) if counts else math.nan, numpy.mean([count > 0 for count in counts]) if counts else math.nan

    def signs(self):
        """Pictures with signs, their signs, and boxes on signs of each picture."""
        rows = [row for row in self.pictures if row[3]]
        return len(rows), sum(row[3] for row in rows), numpy.mean([row[2] for row in rows]) if rows else math.nan


def has(letter, choices):
    """Whether a plate's letters say so; of the first of the choices, that they name none of the others."""
    others = set(''.join(choices.values()))
    return lambda _, plate: letter in plate[4] if letter else not others & set(plate[4])


def rows():
    """Name of a row and which plates it counts."""
    yield '**all**', lambda *_: True
    for name in SETS:
        yield name, lambda kind, _, name=name: kind == name
    for least in LEAST:
        yield f'**from {least} pixels**', lambda _, plate, least=least: plate[3] >= least
        for name in SETS:
            yield f'{name}, from {least} pixels', lambda kind, plate, name=name, least=least: kind == name and plate[3] >= least
    for low, high in zip(HEIGHTS, HEIGHTS[1:]):
        yield f'{low} to {high} pixels high' if high < 10**6 else f'{low} and more', lambda _, plate, low=low, high=high: low <= plate[3] < high
    for choices in (LIGHTS, FORMS):
        for name, letter in choices.items():
            yield name, has(letter, choices)
