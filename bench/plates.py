#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Which number plates that were marked by hand `detect=plates` hides, and what else it takes for plates: tables in Markdown.
bench/recall/plates.py tells more of the pictures, which are fetched into the folder, build/plates, unless it has them.

    tests/python.sh bench/plates.py [FOLDER] [--half tune|judge] [--overlays FOLDER]
    tests/python.sh bench/plates.py [FOLDER] --half tune --thresholds 0.2,0.3,0.4,0.5,0.6,0.7,0.8

The second prints one row for each threshold. The threshold is chosen on the half `tune`, and what holds for it is stated for
`judge`. `bench/recall.py plates` counts boxes on rendered pages. --detect takes another detector's boxes, such as text,
--stub a file {hash of a picture: [[x, y, width, height, score], ...]} instead of the daemon's, --model another model file than
the daemon's own, and --kinds some sets only."""

import argparse
import io
import json
import pathlib
import sys

from PIL import Image, ImageDraw, ImageOps

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / 'tests' / 'http'), str(ROOT / 'bench' / 'recall')]

import daemon  # noqa: E402
import plates  # noqa: E402

QUERIES = {'default': '', '`detect_effort=high`': '&detect_effort=high'}
COLOURS = {True: (0, 170, 0), False: (255, 0, 0)}


def found(served, options, query, entry, data):
    """(x, y, width, height, score) of each box, without a margin."""
    if options.stub:
        least = float(query.partition('detect_threshold=')[2] or 0)
        return [box for box in options.stub.get(entry['sha256'], []) if box[4] >= least]
    answer = served.post(f'/detect?detect={options.detect}&detect_margin=0{query}', data)
    answer.raise_for_status()
    return [tuple(box.get(side, 0) for side in ('x', 'y', 'width', 'height', 'score')) for box in answer.json()[options.detect]]


def overlay(entry, data, boxes, margin, path):
    """Plates green where they are hidden, else red; unclear places grey, signs blue, boxes yellow."""
    picture = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert('RGB')
    draw, wide = ImageDraw.Draw(picture), [plates.grown(box, margin) for box in boxes]
    places = [(plate, COLOURS[plates.covered(plate, wide) >= plates.SHARES[0]]) for plate in entry['plates']]
    places += [(box, (128, 128, 128)) for box in entry['unclear']] + [(box, (0, 0, 255)) for box in entry['signs']]
    for (x, y, width, height, *_), colour in [*places, *((box, (255, 220, 0)) for box in wide)]:
        draw.rectangle((x - 1, y - 1, x + width, y + height), outline=colour)
    for x, y, _, _, score in boxes:
        draw.text((x, y - 12), f'{score:.2f}', fill=(255, 220, 0))
    picture.save(path)


def measure(served, options, queries):
    """{name: tally} of queries {name: query}."""
    tallies = {name: plates.Tally(options.margin) for name in queries}
    for entry, data in plates.present(options.folder, options.half):
        if options.kinds and entry['kind'] not in options.kinds:
            continue
        for number, (name, query) in enumerate(queries.items()):
            boxes = found(served, options, query, entry, data)
            tallies[name].add(entry, boxes)
            if options.overlays and not number:
                overlay(entry, data, boxes, options.margin, options.overlays / f"{entry['kind']}-{entry['sha256'][:12]}.png")
    return tallies


def head(first, number, columns):
    print(f'\n| {first} | {number} | ' + ' | '.join(columns) + ' |\n|---|--:|' + '--:|' * len(columns))


def tables(tallies):
    first = next(iter(tallies.values()))
    head('hidden', 'plates', [f'{name}, {share:.0%}' for name in tallies for share in plates.SHARES])
    for name, wanted in plates.rows():
        cells = ' | '.join(tally.recall(wanted, share) for tally in tallies.values() for share in plates.SHARES)
        print(f'| {name} | {first.number(wanted)} | {cells} |')
    head('wrong boxes a picture (pictures with any)', 'pictures', list(tallies))
    groups = {name: (name,) for name in plates.SETS} | {name: (kind,) for kind, name in plates.WITHOUT.items()}
    groups |= {'**with plates**': plates.SETS, '**without plates**': tuple(plates.WITHOUT)}
    for name, kinds in groups.items():
        cells = ' | '.join(f'{mean:.3f} ({share:.1%})' for _, mean, share in (tally.wrong(kinds) for tally in tallies.values()))
        print(f'| {name} | {first.wrong(kinds)[0]} | {cells} |')
    pictures, signs, _ = first.signs()
    cells = ' | '.join(f'{tally.signs()[2]:.3f}' for tally in tallies.values())
    print(f'| on one of {signs} signs | {pictures} | {cells} |')


def thresholds(tallies):
    shares = [f'hidden, {share:.0%}' for share in plates.SHARES]
    head('`detect_threshold`', 'plates', [*shares, *plates.SETS, 'wrong, with plates', 'wrong, without', 'on signs'])
    for name, tally in tallies.items():
        cells = [tally.recall(lambda *_: True, share) for share in plates.SHARES]
        cells += [tally.recall(lambda kind, _, one=one: kind == one, plates.SHARES[0]).partition(' ')[0] for one in plates.SETS]
        cells += [f'{tally.wrong(kinds)[1]:.3f}' for kinds in (plates.SETS, plates.WITHOUT)] + [f'{tally.signs()[2]:.3f}']
        print(f'| {name} | {tally.number(lambda *_: True)} | ' + ' | '.join(cells) + ' |')


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder', type=pathlib.Path, nargs='?', default=ROOT / 'build' / 'plates')
    parser.add_argument('--half', choices=('tune', 'judge', 'all'), default='all')
    parser.add_argument('--detect', default='plates')
    parser.add_argument('--margin', type=float, default=20, help='percent of its sides by which a box that is hidden grows')
    parser.add_argument('--thresholds', type=lambda text: text.split(','))
    parser.add_argument('--kinds', type=lambda text: text.split(','))
    parser.add_argument('--overlays', type=pathlib.Path)
    parser.add_argument('--stub', type=lambda path: json.loads(pathlib.Path(path).read_text(encoding='utf-8')))
    parser.add_argument('--model', help='for --text-model, whose file has the head for plates')
    parser.add_argument('--default-only', action='store_true', help='without detect_effort=high')
    return parser.parse_args()


def main():
    options = parsed()
    if options.overlays:
        options.overlays.mkdir(parents=True, exist_ok=True)
    with daemon.Daemon('--gpus', 'none', *(('--text-model', options.model) if options.model else ())) as served:
        if options.thresholds:
            thresholds(measure(served, options, {least: f'&detect_threshold={least}' for least in options.thresholds}))
        else:
            tables(measure(served, options, dict(list(QUERIES.items())[:1]) if options.default_only else QUERIES))


main()
