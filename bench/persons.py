#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Which persons `detect=persons` finds whose faces were marked by hand, and boxes where there are none: the tables of
docs/persons.md, in Markdown.

    tests/python.sh bench/persons.py [FOLDER] [--thresholds 0.2,0.3,0.5]

bench/recall/marked.py tells more of the pictures, which are fetched into the folder, build/faces/labelled, unless it has them.
Nobody has marked persons: a person is found if the middle of the face lies in the upper half of a box that is 1.5 to 12 times as
high as the face. So persons without a face in sight are not counted, nor is it measured how well a box fits."""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / 'tests' / 'http'), str(ROOT / 'bench' / 'recall')]

import daemon  # noqa: E402
import marked  # noqa: E402

QUERIES = {'default': '', '`detect_effort=high`': '&detect_effort=high', '`detect_size=640`': '&detect_size=640', '`detect_size=full`': '&detect_size=full'}
HEIGHTS = 16, 24, 48, 96, 10**6
LEAST, MOST = 1.5, 12  # heights of a face that a person has


def is_person(face, box):
    x, y, width, height = box
    across, down = face[0] + face[2] / 2, face[1] + face[3] / 2
    return x <= across <= x + width and y <= down <= y + height / 2 and LEAST * face[3] <= height <= MOST * face[3]


class Tally:
    """What is found and wrong with a query."""

    def __init__(self):
        self.faces = []  # a face, and whether its person is found
        self.boxes = {kind: [] for kind in marked.KINDS}

    def add(self, served, entry, data, query):
        answer = served.post(f'/detect?detect=persons{query}', data)
        answer.raise_for_status()
        boxes = [(box['x'], box['y'], box['width'], box['height']) for box in answer.json()['persons']]
        self.faces += [(face, any(is_person(face, box) for box in boxes)) for face in entry['faces'] if face[3] >= HEIGHTS[0]]
        self.boxes[entry['kind']].append(len(boxes))

    def share(self, low, high):
        found = [is_found for face, is_found in self.faces if low <= face[3] < high]
        return f'{sum(found) / len(found):.3f}' if found else '-'


def print_table(tallies):
    first = next(iter(tallies.values()))
    print(f'| persons by their faces | faces | {" | ".join(tallies)} |\n|---|--:|' + '--:|' * len(tallies))
    for low, high in [*zip(HEIGHTS, HEIGHTS[1:]), (HEIGHTS[0], HEIGHTS[-1])]:
        name = f'{low} to {high} pixels high' if high < 10**6 else f'{low} and more'
        number = sum(low <= face[3] < high for face, _ in first.faces)
        print(f'| {name} | {number} | ' + ' | '.join(tally.share(low, high) for tally in tallies.values()) + ' |')
    for kind, name in marked.KINDS.items():
        number = len(first.boxes[kind])
        cells = [f'{sum(tally.boxes[kind]) / max(number, 1):.2f}' for tally in tallies.values()]
        print(f'| boxes for each of {number} pictures {name} | | {" | ".join(cells)} |')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder', type=pathlib.Path, nargs='?', default=ROOT / 'build' / 'faces' / 'labelled')
    parser.add_argument('--thresholds', type=lambda text: text.split(','))
    options = parser.parse_args()
    queries = {f'score {least}': f'&detect_threshold={least}' for least in options.thresholds} if options.thresholds else QUERIES
    tallies = {name: Tally() for name in queries}
    with daemon.Daemon('--gpus', 'none') as served:
        for entry, data in marked.present(options.folder):
            for name, query in queries.items():
                tallies[name].add(served, entry, data, query)
    print_table(tallies)


main()
