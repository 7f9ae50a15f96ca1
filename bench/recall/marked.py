# SPDX-License-Identifier: MIT
"""Faces on photographs with free licences that were marked by hand, and pictures without any (marked.json).

The pictures belong to others and are not here: the table names repository, commit, object, hash and licence of each. It has git's
name of the object instead of a path, since many paths are names of people. A face is left, top, width and height in pixels of
the upright picture, from chin to hairline and from ear to ear, and letters: t turned to a side, p a profile, else from the front;
d dark, b light from behind; g glasses, s dark glasses, m a mask, h partly behind a hand, a hat, a cup or somebody else. `unclear`
are places where one cannot say whether a face is to be seen, or where it is too small, printed or hardly in sight: boxes there are
not counted. `kind` is people, without, or drawn, for drawings and paintings: their faces count as none.

The places were first proposed by the detector itself, at a score of 0.12, in several sizes and mirrored; then each was looked at
and taken, corrected or dropped, and faces without a proposal were added. So the boxes are nearer to the detector's than those of a
hand alone, and a face that neither proposal nor eye found is missing: recall is an upper bound."""

import hashlib
import io
import json
import pathlib
import subprocess
import sys

import numpy
from PIL import Image, ImageOps

HEIGHTS = 8, 12, 16, 24, 48, 96, 10**6
MIDDLE, COVERED = 0.7, 0.9  # of a face's sides, and of that part's area: then the face is hidden
SAMPLES = 20  # of the middle, along each side
POSES = {'front': '', 'turned': 't', 'profile': 'p'}
LIGHTS = {'usual': '', 'dark': 'd', 'from behind': 'b'}
COVERS = {'none': '', 'glasses': 'g', 'dark glasses': 's', 'mask': 'm', 'a hand, a hat or another person': 'h'}
TURNS = {'on their side': Image.ROTATE_90, 'upside down': Image.ROTATE_180}
KINDS = {'people': 'with people', 'without': 'without faces', 'drawn': 'drawings'}


def entries():
    return json.loads(pathlib.Path(__file__).with_suffix('.json').read_text(encoding='utf-8'))


def fetch(entry, folder):
    """The bytes of a picture from its repository; only its commit and the objects that are asked for come."""
    git = folder / entry['repository'].replace('/', '+')
    run = ['git', f'--git-dir={git}']
    if not git.exists():
        subprocess.run(['git', 'init', '--quiet', '--bare', git], check=True)
        subprocess.run([*run, 'remote', 'add', 'origin', f"https://github.com/{entry['repository']}"], check=True)
        subprocess.run([*run, 'config', 'remote.origin.promisor', 'true'], check=True)
        subprocess.run([*run, 'fetch', '--quiet', '--depth=1', '--filter=blob:none', 'origin', entry['commit']], check=True)
    return subprocess.run([*run, 'cat-file', 'blob', entry['blob']], check=True, stdout=subprocess.PIPE).stdout


def present(folder):
    """The entries and their pictures' bytes: of a file in the folder, whose name does not matter, or fetched into it."""
    files = {}
    for path in sorted(folder.glob('*.jpg')):
        data = path.read_bytes()
        files[hashlib.sha256(data).hexdigest()] = data
    for entry in entries():
        data = files.get(entry['sha256'])
        if data is None:
            try:
                data = fetch(entry, folder)
            except subprocess.CalledProcessError:
                print(f"absent: {entry['blob']} of {entry['repository']} at {entry['commit']}", file=sys.stderr)
                continue
            assert hashlib.sha256(data).hexdigest() == entry['sha256'], entry
            (folder / f"{entry['sha256']}.jpg").write_bytes(data)
        yield entry, data


def overlap(a, b):
    """The area that two boxes share."""
    return max(0, min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])) * max(0, min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1]))


def is_hidden(face, boxes):
    """Whether the ellipses of the boxes, with their margin, cover the middle of a face."""
    x, y, width, height = face[:4]
    places = (numpy.arange(SAMPLES) + 0.5) / SAMPLES * MIDDLE + (1 - MIDDLE) / 2
    across, down = numpy.meshgrid(x + places * width, y + places * height)
    covered = numpy.zeros(across.shape, dtype=bool)
    for left, top, wide, high in boxes:
        covered |= ((across - left) / wide * 2 - 1) ** 2 + ((down - top) / high * 2 - 1) ** 2 <= 1
    return covered.mean() >= COVERED


def is_wrong(box, entry):
    """Whether most of a box, without its margin, is neither on a face nor on an unclear place."""
    area = box[2] * box[3]
    for other in (*entry['faces'], *entry['unclear']):
        both = overlap(box, other)
        if both >= area / 2 or both >= (area + other[2] * other[3] - both) / 5:
            return False
    return True


def ask(served, data, query):
    """The boxes with the usual margin and without it."""
    answers = []
    for margin in (20, 0):
        answer = served.post(f'/detect?detect=faces&detect_margin={margin}{query}', data)
        answer.raise_for_status()
        answers.append([(box['x'], box['y'], box['width'], box['height']) for box in answer.json()['faces']])
    return answers


class Tally:
    """What is hidden and wrong with a query."""

    def __init__(self):
        self.faces = []  # a face's numbers and letters, and whether it is hidden
        self.wrong = {kind: [] for kind in KINDS}

    def add(self, served, entry, data, query):
        grown, boxes = ask(served, data, query)
        self.faces += [(face, is_hidden(face, grown)) for face in entry['faces']]
        self.wrong[entry['kind']].append(sum(is_wrong(box, entry) for box in boxes))

    def share(self, wanted):
        hidden = [is_found for face, is_found in self.faces if wanted(face)]
        return f'{sum(hidden) / len(hidden):.3f}' if hidden else '-'


def turned(entry, data, turn):
    """The picture as its pixels are on their side or upside down, which nothing tells, and its faces there."""
    picture = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert('RGB')
    wide, high = picture.size
    out = io.BytesIO()
    picture.transpose(turn).save(out, 'JPEG', quality=95, subsampling=0)
    place = {Image.ROTATE_90: lambda x, y, w, h: (y, wide - x - w, h, w), Image.ROTATE_180: lambda x, y, w, h: (wide - x - w, high - y - h, w, h)}
    return {**entry, 'faces': [(*place[turn](*face[:4]), face[4]) for face in entry['faces'] if face[3] >= HEIGHTS[2]], 'unclear': []}, out.getvalue()


def has(letter, of):
    """Whether a face's letters say so; of the first of the choices, that they name none of the others."""
    others = ''.join(of.values())
    return lambda face: letter in face[4] if letter else not set(others) & set(face[4])


def rows():
    """Name of a row and which faces it counts."""
    for low, high in zip(HEIGHTS, HEIGHTS[1:]):
        yield f'{low} to {high} pixels high' if high < 10**6 else f'{low} and more', lambda face, low=low, high=high: low <= face[3] < high
    yield '**16 and more**', lambda face: face[3] >= 16
    for title, choices in (('pose', POSES), ('light', LIGHTS), ('in front', COVERS)):
        for name, letter in choices.items():
            yield f'{title}: {name}', has(letter, choices)


def table(tallies, counts):
    first = next(iter(tallies.values()))
    print('| faces | number | ' + ' | '.join(tallies) + ' |\n|---|--:|' + '--:|' * len(tallies))
    for name, wanted in rows():
        number = sum(wanted(face) for face, _ in first.faces)
        print(f'| {name} | {number} | ' + ' | '.join(tally.share(wanted) for tally in tallies.values()) + ' |')
    for turn in TURNS:
        print(f'| 16 and more, {turn} | {len(counts[turn][0].faces)} | ' + ' | '.join(tally.share(lambda _: True) for tally in counts[turn]) + ' |')
    print('\n| wrong boxes a picture | pictures | ' + ' | '.join(tallies) + ' |\n|---|--:|' + '--:|' * len(tallies))
    for kind, name in KINDS.items():
        means = ' | '.join(f'{numpy.mean(tally.wrong[kind]):.2f}' for tally in tallies.values())
        print(f'| {name} | {len(first.wrong[kind])} | {means} |')


def measure(served, queries, folder):
    """Prints what is hidden with each of the queries, {name: query}."""
    folder.mkdir(parents=True, exist_ok=True)
    tallies = {name: Tally() for name in queries}
    counts = {turn: [Tally() for _ in queries] for turn in TURNS}
    for entry, data in present(folder):
        for (name, query), *several in zip(queries.items(), *counts.values()):
            tallies[name].add(served, entry, data, query)
            if entry['kind'] == 'people':
                for tally, turn in zip(several, TURNS.values()):
                    tally.add(served, *turned(entry, data, turn), query)
    table(tallies, counts)
