# SPDX-License-Identifier: MIT
"""Words on photographs of streets and papers, whose rectangles were drawn by hand (labelled.json: text, left, top, width, height).
The photographs belong to others and are not here: the table names the repository, commit and path of each."""

import hashlib
import json
import pathlib
import sys

import count

SHARES = (0.9, 0.98)  # of the rectangle's area; lines that were drawn by hand are a pixel or two beside the ink


def present(folder):
    """The entries of the table whose photographs are below the folder, and their bytes."""
    files = {}
    for path in sorted(folder.rglob('*')):
        if path.suffix.lower() in ('.jpg', '.jpeg', '.png'):
            data = path.read_bytes()
            files[hashlib.sha256(data).hexdigest()] = data
    for entry in json.loads(pathlib.Path(__file__).with_suffix('.json').read_text(encoding='utf-8')):
        if entry['sha256'] in files:
            yield entry, files[entry['sha256']]
        else:
            print(f"absent: {entry['path']} of {entry['repository']} at {entry['commit']}", file=sys.stderr)


def covered(served, detect, query, name, photographs):
    """{kind: the covered shares of its words}, and how much of all pixels the boxes take."""
    shares, areas = {}, []
    for entry, data in photographs:
        boxes, shape = detect(served, data, query)
        mask = count.covers(boxes, shape)
        areas.append(mask.mean())
        for text, left, top, width, height in entry['words']:
            share = mask[top:top + height, left:left + width].mean()
            shares.setdefault(entry['kind'], []).append(share)
            if share < SHARES[0]:
                print(f"{name}: {share:.2f} of {text!r} on {entry['path']}", file=sys.stderr)
    return shares, sum(areas) / len(areas)


def measure(served, detect, queries, folder):
    photographs = list(present(folder))
    print('| covered | photographs | words | 90 % | 98 % of the rectangle | mean share of the area |\n|---|--:|--:|--:|--:|--:|')
    for name, query in queries.items():
        shares, area = covered(served, detect, query, name, photographs)
        for kind, found in shares.items():
            each = [sum(share >= least for share in found) / len(found) for least in SHARES]
            number = sum(entry['kind'] == kind for entry, _ in photographs)
            print(f'| {name}, {kind} | {number} | {len(found)} | {each[0]:.3f} | {each[1]:.3f} | {area:.3f} |', flush=True)
