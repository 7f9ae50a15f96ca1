#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How much of the text of rendered pages `detect=text` finds, and what redacted words still tell; the tables of
bench/results/text.md, in Markdown.

    tests/python.sh bench/recall.py words [--photos FOLDER] [--overlays FOLDER] [--every N]
    tests/python.sh bench/recall.py labelled --photos FOLDER
    tests/python.sh bench/recall.py privacy [--every N]
    tests/python.sh bench/recall.py plates [--every N] [--overlays FOLDER]

Needs what `config/packages.sh browser` installs, and the daemon of `make`. `words` renders pages in Chromium: the project's docs
and playground, Debian's HTML documentation below /usr/share/doc, and made-up pages, light and dark, at one and two pixels
of the screen for each of CSS. The browser tells where the words are, a second screenshot with transparent letters where their ink
is. A word is covered when boxes have 98 % of its ink. With --photos, boxes in photographs that have no text are counted,
too; --overlays writes the screenshots with boxes and missed words. `labelled` counts words of photographs of streets and papers,
whose rectangles were drawn by hand; it looks for them below FOLDER by their hashes, and names those that are absent. `privacy` redacts words of three kinds in five
layouts and counts the different answers. `plates` counts the boxes of `detect=plates` on the same pages, where no plate is. --every takes each Nth page or place only."""

import argparse
import io
import pathlib
import re
import sys
import tempfile

from PIL import Image, ImageDraw

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / folder) for folder in ('bench/recall', 'tests/http', 'tests/browser', 'bench')]

import browser  # noqa: E402
import count  # noqa: E402
import daemon  # noqa: E402
import labelled  # noqa: E402
import made  # noqa: E402
import markdown  # noqa: E402
import privacy  # noqa: E402
import shots  # noqa: E402

# Name, width, height, pixels of the screen for each of CSS, dark, and which pages are shown so: each, each second, each third
SCREENS = (('light', 1280, 720, 1, False, 1), ('dark', 1280, 720, 1, True, 1), ('light, large', 1920, 1080, 1, False, 2),
           ('light, 2x', 1280, 720, 2, False, 3), ('dark, 2x', 1280, 720, 2, True, 3))
QUERIES = {'lines': '', 'hidden by `mode=redact`': '&detect_grid=16'}
DEBIAN = pathlib.Path('/usr/share/doc')


def write(folder, name, text):
    path = folder / (re.sub(r'\W+', '-', name) + '.html')
    path.write_text(text, encoding='utf-8')
    return path.as_uri()


def debian():
    """The largest page of each package, as far as there are some; a link to another package's is none of its own."""
    largest = {}
    for path in sorted(DEBIAN.glob('*/**/*.html')):
        package = path.relative_to(DEBIAN).parts[0]
        if path.resolve().is_relative_to(DEBIAN / package) and path.is_file():
            best = largest.setdefault(package, path)
            largest[package] = max(best, path, key=lambda one: one.stat().st_size)
    return [path for path in largest.values() if path.stat().st_size > 2000]


def sources(folder, served):
    """{name of a source: [(name, address, whether it has dark colours)]}"""
    docs = [*(ROOT / name for name in ('README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md')), *sorted((ROOT / 'docs').glob('*.md'))]
    return {"the project's docs": [(path.stem, write(folder, path.stem, markdown.page(path.read_text(encoding='utf-8'))), True) for path in docs],
            'playground': [('playground', served.url('/'), True)],
            "Debian's documentation": [(str(path.relative_to(DEBIAN)), path.as_uri(), False) for path in debian()],
            'made up': [(name, write(folder, 'made ' + name, text), True) for name, text in made.pages()]}


def detect(served, body, query, kind='text'):
    """The boxes of text, or of another kind, in a picture, and the picture's height and width."""
    answer = served.post(f'/detect?detect={kind}{query}', body)
    answer.raise_for_status()
    found = answer.json()
    return [(box['x'], box['y'], box['width'], box['height']) for box in found[kind]], (found['height'], found['width'])


def overlay(shot, boxes, missed, path):
    """Boxes in green, missed words in red."""
    picture = Image.open(io.BytesIO(shot.png)).convert('RGB')
    draw = ImageDraw.Draw(picture)
    for x, y, width, height in boxes:
        draw.rectangle((x, y, x + width - 1, y + height - 1), outline=(0, 160, 0))
    for word in missed:
        draw.rectangle((word.left - 2, word.top - 2, word.left + word.width + 1, word.top + word.height + 1), outline=(255, 0, 0), width=2)
    picture.save(path)


def measure(served, driver, pages, options):
    """A tally of each query, and how many screenshots there are of each screen."""
    tallies, taken = {name: count.Tally() for name in QUERIES}, {}
    for screen, width, height, scale, dark, each in SCREENS:
        shots.show(driver, width, height, scale, dark)
        for number, (name, address, has_dark) in enumerate(pages):
            if number % each or dark and not has_dark:
                continue
            shot = shots.take(driver, f'{screen} {name}', address, number * 0.37 % 1, scale)
            taken[screen] = taken.get(screen, 0) + 1
            for query, tally in tallies.items():
                boxes, _ = detect(served, shot.png, QUERIES[query])
                missed = tally.add(shot, boxes)
                if options.overlays:
                    overlay(shot, boxes, missed, options.overlays / (re.sub(r'\W+', '-', f'{shot.name} {query}') + '.png'))
                for word in missed if query == 'lines' else ():
                    print(f'missed: {shot.name}: {word.text[:40]!r} at {word.left:.0f},{word.top:.0f}, {word.font:.0f} px', file=sys.stderr)
    return tallies, taken


def table(tallies):
    first = next(iter(tallies.values()))
    print('\n| covered to 98 % of the ink | words | ' + ' | '.join(tallies) + ' |\n|---|--:|' + '--:|' * len(tallies))
    for row in (*count.ROWS, *count.APART):
        print(f'| {row} | {first.words[row]:,} | ' + ' | '.join(tally.share(row) for tally in tallies.values()) + ' |')
    print('| share of the area | | ' + ' | '.join(f'{tally.hidden / tally.area:.3f}' for tally in tallies.values()) + ' |')
    print(f"\nThe words' own rectangles take {first.of_words / first.area:.3f} of the area.", flush=True)


def photographs(served, folder):
    """Boxes and their area in photographs without text; those whose names begin with `sign_` or `receipt_` have some."""
    paths = [path for path in sorted(folder.iterdir()) if not path.name.startswith(('sign_', 'receipt_'))]
    print(f'\n| {len(paths)} photographs without text | boxes of each | share of the area, mean | photographs without a box |\n|---|--:|--:|--:|')
    for name, query in QUERIES.items():
        found, areas = [], []
        for path in paths:
            boxes, shape = detect(served, path.read_bytes(), query)
            found.append(len(boxes))
            areas.append(count.covers(boxes, shape).mean())
        print(f'| {name} | {sum(found) / len(found):.2f} | {sum(areas) / len(areas):.4f} | {found.count(0)} |', flush=True)


def words(served, driver, folder, options):
    by_source = {name: pages[::options.every] for name, pages in sources(folder, served).items()}
    for name, pages in by_source.items():
        print(f'* {len(pages)} of {name}: ' + ', '.join(f'`{page[0]}`' for page in pages))
    tallies, taken = measure(served, driver, [page for pages in by_source.values() for page in pages], options)
    print('\nScreenshots: ' + ', '.join(f'{number} {screen}' for screen, number in taken.items()) + '.')
    table(tallies)
    if options.photos:
        photographs(served, options.photos)


def plates(served, driver, folder, options):
    """Screenshots of each source, boxes of plates on each, and how many have any."""
    print('| rendered pages | screenshots | boxes of plates on each | screenshots with any |\n|---|--:|--:|--:|')
    for source, pages in sources(folder, served).items():
        found = []
        for screen, width, height, scale, dark, each in SCREENS:
            shots.show(driver, width, height, scale, dark)
            for number, (name, address, has_dark) in enumerate(pages[::options.every]):
                if number % each or dark and not has_dark:
                    continue
                shot = shots.take(driver, f'{screen} {name}', address, number * 0.37 % 1, scale)
                boxes, _ = detect(served, shot.png, '', 'plates')
                found.append(len(boxes))
                if options.overlays and boxes:
                    overlay(shot, boxes, (), options.overlays / (re.sub(r'\W+', '-', shot.name) + '.png'))
        print(f'| {source} | {len(found)} | {sum(found) / max(1, len(found)):.3f} | {sum(count > 0 for count in found)} |', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('part', choices=('words', 'labelled', 'privacy', 'plates'))
    parser.add_argument('--photos', type=pathlib.Path)
    parser.add_argument('--overlays', type=pathlib.Path)
    parser.add_argument('--every', type=int, default=1)
    options = parser.parse_args()
    if options.part == 'labelled':
        with daemon.Daemon('--gpus', 'none') as served:
            labelled.measure(served, detect, QUERIES, options.photos)
        return
    with tempfile.TemporaryDirectory() as folder, browser.running(folder) as driver, daemon.Daemon('--gpus', 'none') as served:
        if options.part == 'words':
            words(served, driver, pathlib.Path(folder), options)
        elif options.part == 'plates':
            plates(served, driver, pathlib.Path(folder), options)
        else:
            privacy.measure(served, driver, pathlib.Path(folder), options.every)


main()
