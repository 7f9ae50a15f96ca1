#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes detect/codes/cpu/codes_trees.def, which judges whether a part of a picture looks like a code.

    python3 -m venv build/train && build/train/bin/pip install scikit-learn zxing-cpp Pillow
    build/train/bin/python detect/codes/train.py --seeds 1,2,3 --photos FOLDER --pages FOLDER

Makes codes as bench/codes.py does, lets the program measure parts of them and of photographs and pages without codes,
and fits trees of two levels by gradient boosting. Seeds, photographs and pages must not be those of a benchmark."""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

import numpy
from PIL import Image
from sklearn.ensemble import GradientBoostingClassifier

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench"))
import codes  # noqa: E402

TREES, RATE, UNIT = 60, 0.3, 256
# How much an example counts: parts of codes, of text beside codes and pages, of photographs.
WEIGHTS = {"code": 1, "page": 3, "photo": 8}


def names():
    """The features, in the order of the program's."""
    header = open(os.path.join(HERE, "cpu", "codes_features.h")).read()
    found = re.findall(r"^    CODES_(\w+)(?:,|\s*/\*)", header.replace(",", ", "), re.M)
    found = found[: found.index("CALM")]
    axis = found[found.index("EDGES"):]
    return found + ["CALM"] + [f"CALM + {i}" for i in range(1, len(axis))]


def area(polygon):
    return sum(polygon[i - 1][0] * p[1] - p[0] * polygon[i - 1][1] for i, p in enumerate(polygon)) / 2


def cut(polygon, a, b):
    """The part of a polygon on the inner side of a line."""
    def side(p):
        return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])

    kept = []
    for i, p in enumerate(polygon):
        last = polygon[i - 1]
        if (side(p) >= 0) != (side(last) >= 0):
            share = side(last) / (side(last) - side(p))
            kept.append((last[0] + share * (p[0] - last[0]), last[1] + share * (p[1] - last[1])))
        if side(p) >= 0:
            kept.append(p)
    return kept


def shared(one, other):
    """The area that two convex polygons share."""
    other = other if area(other) > 0 else other[::-1]
    for i, p in enumerate(other):
        one = cut(one, other[i - 1], p)
    return abs(area(one)) if one else 0


def parts(program, paths):
    """Corners and features of each part in each picture."""
    for i in range(0, len(paths), 100):
        output = subprocess.run([program, "parts", *paths[i : i + 100]], capture_output=True, text=True, check=True).stdout
        for line in output.splitlines():
            path, *numbers = line.split(" ")
            numbers = [int(n) for n in numbers]
            yield path, [(numbers[j], numbers[j + 1]) for j in range(0, 8, 2)], numbers[8:]


def of_codes(program, seed, photos, folder):
    """Examples of pictures with codes: parts that lie on the code, and parts that do not touch it."""
    places = {place["path"]: place for place in codes.codes(seed, photos, folder)}
    for path, corners, features in parts(program, list(places)):
        width, height = Image.open(path).size
        whole = places[path]["outline"]
        for a, b in (((0, 0), (width, 0)), ((width, 0), (width, height)), ((width, height), (0, height)), ((0, height), (0, 0))):
            whole = cut(whole, a, b)
        common = shared(corners, whole)
        of_code, of_part = common / abs(area(whole)), common / max(abs(area(corners)), 1)
        if of_part > 0.6 and of_code > 0.3:
            yield features, 1, WEIGHTS["code"]
        elif of_code < 0.03 or of_part < 0.05:
            yield features, 0, WEIGHTS["page"]


def varied(paths, kind, folder):
    """Photographs and pages in several sizes, turned and inverted."""
    made = []
    for i, path in enumerate(paths):
        picture, rng = Image.open(path).convert("L"), random.Random(path)
        for j, (side, turned) in enumerate(((4000, False), (2000, False), (1200, False), (700, False), (420, False), (2000, True), (1000, True))):
            other = picture.copy()
            other.thumbnail((side, side))
            if turned:
                other = other.rotate(rng.uniform(8, 82), Image.Resampling.BICUBIC, fillcolor=other.getpixel((0, 0)))
                w, h = other.size
                other = other.crop((w * 28 // 100, h * 28 // 100, w * 72 // 100, h * 72 // 100))
            if kind == "page" and j % 2:
                other = other.point([255 - k for k in range(256)])
            made.append(codes.saved(other, folder, f"{kind}{i:03}-{j}", {}, None))
    return made


def rows(model, features):
    """Each tree as a row of the table: thresholds are whole numbers, as features are."""
    start = UNIT * model._raw_predict_init(numpy.zeros((1, len(features))))[0][0]
    for index, (tree,) in enumerate(model.estimators_):
        t = tree.tree_

        def node(at):
            return (features[t.feature[at]], int(numpy.floor(t.threshold[at]))) if t.children_left[at] >= 0 else None

        def end(at):
            return t.value[at][0][0] * RATE * UNIT + (start if index == 0 else 0)

        root, cells = node(0), []
        for child in (t.children_left[0], t.children_right[0]):
            below = node(child)
            ends = [t.children_left[child], t.children_right[child]] if below else [child, child]
            cells.append((below or root, [round(end(e)) for e in ends]))
        numbers = [*root, *cells[0][0], *cells[1][0], *cells[0][1], *cells[1][1]]
        yield f"TREE({', '.join(map(str, numbers))})\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="build/release/bench/codes")
    parser.add_argument("--seeds", required=True)
    parser.add_argument("--photos", required=True)
    parser.add_argument("--pages", required=True)
    arguments = parser.parse_args()
    photos, pages = codes.pictures(arguments.photos), codes.pictures(arguments.pages)
    examples = []
    for seed in arguments.seeds.split(","):
        with tempfile.TemporaryDirectory() as folder:
            examples += of_codes(arguments.program, int(seed), photos, folder)
    for kind, paths in (("photo", photos), ("page", pages)):
        with tempfile.TemporaryDirectory() as folder:
            for _, _, features in parts(arguments.program, varied(paths, kind, folder)):
                examples.append((features, 0, WEIGHTS[kind]))
    features, labels, weights = zip(*examples)
    print(len(labels), "parts,", sum(labels), "of codes")
    model = GradientBoostingClassifier(n_estimators=TREES, learning_rate=RATE, max_depth=2, min_samples_leaf=20, random_state=0)
    model.fit(numpy.array(features), numpy.array(labels), sample_weight=weights)
    with open(os.path.join(HERE, "cpu", "codes_trees.def"), "w") as file:
        file.write("/* SPDX-License-Identifier: MIT\n * Made by detect/codes/train.py.\n *\n * TREE(feature, most, feature if it is "
                   "at most that, most, feature if it is more, most, and what the four ends add) */\n")
        file.writelines(rows(model, names()))


if __name__ == "__main__":
    main()
