#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many machine-readable codes are found, and how much is taken for one.

    config/pypi.sh codes && make tools
    tests/python.sh bench/codes.py --seed 7 --photos FOLDER --pages FOLDER

Makes pictures with 210 codes of 8 kinds, turned, small, blurred, inverted, cut by the edge and so on, half of them on
the photographs. The program bench/codes.c searches them with the reader, the finder, or both. A code counts as covered
when 90 % of what is in the picture of it lies in the boxes. Photographs and pages must have no code: all that is found
there is wrong. Judge by a seed, photographs and pages that no threshold was tuned on."""
import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'build/codes/python'))  # of `config/pypi.sh codes`
import zxingcpp  # noqa: E402
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont  # noqa: E402

KINDS = ("QRCode", "DataMatrix", "Aztec", "PDF417", "Code128", "Code39", "ITF", "EAN13")
LINEAR = KINDS[4:]
# Name, how many, and what differs from a plain code: pixels of a module, degrees, blur in modules, and flags.
VARIANTS = (
    ("plain", 16, {}),
    ("small", 16, {"module": (1.6, 2.4)}),
    ("turned a little", 24, {"turn": (5, 15)}),
    ("turned", 24, {"turn": (15, 345)}),
    ("inverted", 16, {"inverted": True}),
    ("blurred", 16, {"blur": (0.4, 0.6)}),
    ("blurred beyond reading", 16, {"blur": (0.8, 1.1)}),
    ("cut by the edge", 16, {"cut": True}),
    ("on a photograph", 24, {"photograph": True, "turn": (-20, 20)}),
    ("noise and JPEG", 16, {"noise": True, "turn": (-4, 4)}),
    ("low contrast", 10, {"contrast": True}),
    ("partly hidden", 16, {"hidden": True}),
)
SUPER = 4  # codes are drawn in so many times the resolution


def content(kind, rng):
    """What a code says, of any length that is usual."""
    digits = "".join(rng.choice("0123456789") for _ in range(40))
    if kind == "EAN13":
        sum_ = sum(int(d) * (3 if i % 2 else 1) for i, d in enumerate(digits[:12]))
        return digits[:12] + str(-sum_ % 10)
    if kind == "ITF":
        return digits[: rng.choice((8, 14, 20))]
    letters = "".join(rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") for _ in range(150))
    return letters[: rng.randint(6, 18) if kind in LINEAR else rng.choice((10, 25, 60, 120))]


def drawn(kind, rng):
    """A code with a pixel for each module, without its quiet zone."""
    code = zxingcpp.create_barcode(content(kind, rng), getattr(zxingcpp.BarcodeFormat, kind))
    made = code.to_image(scale=1, add_quiet_zones=False)
    height, width = made.shape
    picture = Image.frombytes("L", (width, height), bytes(made))
    if kind in LINEAR:
        return picture.crop((0, 0, width, 1)).resize((width, rng.randint(18, 60)))
    return picture


def pick(rng, bounds, default):
    return rng.uniform(*(bounds or default))


def made(kind, variant, rng):
    """The code as a picture with its mask, both with room for the turn; its corners there, and what hides some of it."""
    code = drawn(kind, rng)
    module = pick(rng, variant.get("module"), (1.5, 3) if kind in LINEAR else (3, 6))
    width, height = code.width * module, code.height * module
    if max(width, height) > 520:
        module *= 520 / max(width, height)
        width, height = code.width * module, code.height * module
    angle = math.radians(pick(rng, variant.get("turn"), (-1, 1)))
    quiet = rng.uniform(2, 5) * module
    cos, sin = math.cos(angle), math.sin(angle)

    def corners(more):
        points = [(sx * (width / 2 + more), sy * (height / 2 + more)) for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        return [(x * cos - y * sin, x * sin + y * cos) for x, y in points]

    outer = corners(quiet)
    half = math.ceil(max(max(abs(x), abs(y)) for x, y in outer)) + 3
    side = 2 * half * SUPER
    scale = 1 / (SUPER * module)
    center = half * SUPER
    inverse = (cos * scale, sin * scale, code.width / 2 - (cos + sin) * center * scale,
               -sin * scale, cos * scale, code.height / 2 - (cos - sin) * center * scale)
    large = Image.new("L", (side, side), 255)
    body = code.transform((side, side), Image.Transform.AFFINE, inverse, Image.Resampling.NEAREST, fillcolor=255)
    large.paste(body)
    patch = large.resize((2 * half, 2 * half), Image.Resampling.BOX)
    mask = Image.new("L", (side, side), 0)
    ImageDraw.Draw(mask).polygon([((x + half) * SUPER, (y + half) * SUPER) for x, y in outer], fill=255)
    mask = mask.resize((2 * half, 2 * half), Image.Resampling.BOX)
    inner = [(x + half, y + half) for x, y in corners(0)]
    hole = None
    if variant.get("hidden"):
        x, y = inner[rng.randrange(4)]
        hide = 0.22 * max(width, height)
        hole = (x - hide, y - hide, x + hide, y + hide)
        ImageDraw.Draw(patch).ellipse(hole, fill=rng.choice((60, 140, 200)))
    dark, light = (rng.randint(0, 50), rng.randint(190, 255))
    if variant.get("contrast"):
        dark = rng.randint(90, 130)
        light = dark + rng.randint(45, 70)
    if variant.get("inverted"):
        dark, light = light, dark
    patch = patch.point([dark + (light - dark) * i // 255 for i in range(256)])
    if variant.get("blur"):
        patch = patch.filter(ImageFilter.GaussianBlur(pick(rng, variant["blur"], None) * module))
    return patch, mask, inner, hole


def text(draw, size, rng):
    """Lines of words on a page, which must not be taken for codes."""
    words = "the code on this page belongs to order number and was sent by date total of amount name street".split()
    y = 12
    while y < size[1]:
        height = rng.choice((11, 13, 16, 22))
        font = ImageFont.truetype(rng.choice(("DejaVuSans.ttf", "DejaVuSerif.ttf", "DejaVuSansMono.ttf")), height)
        draw.text((20, y), " ".join(rng.choice(words + [str(rng.randint(1, 99999))]) for _ in range(24)), rng.randint(0, 90), font)
        y += round(height * rng.uniform(1.3, 2))


def ground(variant, size, photos, rng):
    if variant.get("photograph"):
        photo = Image.open(rng.choice(photos)).convert("L")
        scale = max(size[0] / photo.width, size[1] / photo.height, 0.25)
        photo = photo.resize((math.ceil(photo.width * scale), math.ceil(photo.height * scale)))
        x, y = rng.randint(0, photo.width - size[0]), rng.randint(0, photo.height - size[1])
        return photo.crop((x, y, x + size[0], y + size[1]))
    page = Image.new("L", size, 25 if variant.get("inverted") else 245)
    if not variant.get("inverted"):
        text(ImageDraw.Draw(page), size, rng)
    return page


def page(kind, variant, photos, rng):
    """A picture with one code somewhere, its outline, and what hides some of it."""
    size = (rng.randint(700, 1000), rng.randint(650, 800))
    patch, mask, inner, hole = made(kind, variant, rng)
    picture = ground(variant, size, photos, rng)
    if variant.get("cut"):
        share = rng.uniform(0.2, 0.45)
        lefts = [min(x for x, _ in inner), min(y for _, y in inner), max(x for x, _ in inner), max(y for _, y in inner)]
        x = -round(lefts[0] + share * (lefts[2] - lefts[0]))
        y = rng.randint(20, max(21, size[1] - patch.height))
        if rng.random() < 0.5 and kind not in LINEAR:
            x, y = rng.randint(20, size[0] - patch.width), -round(lefts[1] + share * (lefts[3] - lefts[1]))
    else:
        x, y = (rng.randint(min(8, a), max(min(8, a), a)) for a in (size[0] - patch.width - 8, size[1] - patch.height - 8))
    picture.paste(patch, (x, y), mask)
    if variant.get("noise"):
        noise = Image.effect_noise(size, rng.uniform(15, 35))
        picture = ImageChops.add(picture, noise, 1, -128)
    hole = hole and (hole[0] + x, hole[1] + y, hole[2] + x, hole[3] + y)
    return picture, [(px + x, py + y) for px, py in inner], hole


def saved(picture, folder, name, variant, rng):
    """As the program reads it: grey samples behind a header of Netpbm."""
    if variant.get("noise"):
        picture.save(os.path.join(folder, "noise.jpg"), quality=rng.randint(35, 60))
        picture = Image.open(os.path.join(folder, "noise.jpg"))
    path = os.path.join(folder, name + ".pgm")
    picture.convert("L").save(path)
    return path


def codes(seed, photos, folder):
    """Paths of pictures with the name of the variant, the kind and the outline of the code on each, and what hides it."""
    rng = random.Random(seed)
    places = []
    for name, count, variant in VARIANTS:
        for i in range(count):
            kind = KINDS[i % len(KINDS)]
            picture, outline, hole = page(kind, variant, photos, rng)
            path = saved(picture, folder, f"{len(places):03}", variant, rng)
            places.append({"path": path, "variant": name, "kind": kind, "outline": outline, "hole": hole})
    return places


def plain(paths, prefix, folder):
    """Pictures without codes, at most 2,000 pixels long."""
    made_ = []
    for i, path in enumerate(paths):
        picture = Image.open(path).convert("L")
        picture.thumbnail((2000, 2000))
        made_.append(saved(picture, folder, f"{prefix}{i:03}", {}, None))
    return made_


def search(program, way, paths):
    """Corners of what is found in each picture."""
    output = subprocess.run([program, way, *paths], capture_output=True, text=True, check=True).stdout
    found = {path: [] for path in paths}
    for line in output.splitlines():
        path, *numbers = line.split(" ")
        found[path].append([(int(numbers[i]), int(numbers[i + 1])) for i in range(0, 8, 2)])
    return found


def covered(place, boxes):
    """The share of a code that lies within the boxes, of what the picture shows of it."""
    size = Image.open(place["path"]).size
    code, hidden = Image.new("1", size), Image.new("1", size)
    ImageDraw.Draw(code).polygon(place["outline"], fill=1)
    if place["hole"]:
        ImageDraw.Draw(code).ellipse(place["hole"], fill=0)
    for box in boxes:
        ImageDraw.Draw(hidden).polygon(box, fill=1)
    whole = code.convert("L").histogram()[255]
    return ImageChops.logical_and(code, hidden).convert("L").histogram()[255] / whole


def pictures(folder):
    names = sorted(os.listdir(folder)) if folder else []
    return [os.path.join(folder, n) for n in names if n.endswith((".png", ".jpg", ".jpeg"))]


def report(places, found, way, verbose):
    hits = {}
    for place in places:
        share = covered(place, found[place["path"]])
        for key in ("all", place["variant"], place["kind"]):
            hits.setdefault(key, []).append(share >= 0.9)
        if verbose and share < 0.9:
            print("missed", way, place["variant"], place["kind"], f"{share:.2f}", place["path"])
    return hits


def wrong(paths, found, way, what, verbose):
    count = sum(len(found[path]) for path in paths)
    marked = sum(bool(found[path]) for path in paths)
    if verbose:
        for path in paths:
            if found[path]:
                print("wrong", way, len(found[path]), path)
    return f"{what}: {count} wrong in {marked} of {len(paths)}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="build/release/bench/codes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--photos", required=True, help="folder of photographs without codes")
    parser.add_argument("--pages", help="folder of screenshots without codes")
    parser.add_argument("--ways", default="reader,finder,both")
    parser.add_argument("--keep", help="folder for the pictures")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = arguments.keep or folder
        os.makedirs(folder, exist_ok=True)
        photos = pictures(arguments.photos)
        places = codes(arguments.seed, photos, folder)
        others = {"photographs": plain(photos, "photo", folder), "pages": plain(pictures(arguments.pages), "page", folder)}
        json.dump([places, others], open(os.path.join(folder, "truth.json"), "w"))
        table = {}
        for way in arguments.ways.split(","):
            found = search(arguments.program, way, [p["path"] for p in places])
            table[way] = report(places, found, way, arguments.verbose)
            for what, paths in others.items():
                if paths:
                    print(f"{way}: {wrong(paths, search(arguments.program, way, paths), way, what, arguments.verbose)}")
        for key in next(iter(table.values())):
            counts = "  ".join(f"{way} {sum(table[way][key]):3}" for way in table)
            print(f"{key:24} {len(table[next(iter(table))][key]):3}: {counts}")


if __name__ == "__main__":
    sys.exit(main())
