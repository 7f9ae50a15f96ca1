# SPDX-License-Identifier: MIT
"""Finds fonts and draws lines of text as masks (uint8, 0 to 255)."""

import functools
import os

import cv2
import numpy
from PIL import Image, ImageDraw, ImageFont

SIZE = 96  # letters are drawn once at this size, and then scaled
BASE = 120  # the row of the baseline in a drawn letter
ROWS = 150

FOLDERS = (os.environ.get('TRAIN_FONTS', ''), 'fonts', os.path.join(os.path.dirname(os.path.abspath(__file__)), 'fonts'),
           '/usr/share/fonts')

# Which files suit a class of plate or sign, best first. Those that are not there are left out.
CLASSES = {
    'din': ('OSP-DIN', 'Dosis-Bold', 'RobotoCondensed-Bold', 'LiberationSansNarrow-Bold'),
    'narrow': ('LiberationSansNarrow-Bold', 'RobotoCondensed-Bold', 'OSP-DIN', 'DejaVuSansCondensed-Bold', 'Dosis-Bold'),
    'bold': ('LiberationSans-Bold', 'FreeSansBold', 'Lato-Heavy', 'NationalPark-Heavy', 'DejaVuSansCondensed-Bold'),
    'us': ('RobotoCondensed-Bold', 'LiberationSansNarrow-Bold', 'Dosis-Bold', 'NationalPark-Regular', 'OSP-DIN',
           'RobotoCondensed-Regular'),
    'thin': ('RobotoCondensed-Regular', 'NanumSquareB', 'NationalPark-Regular', 'Dosis-SemiBold', 'DejaVuSansCondensed'),
    'mono': ('DejaVuSansMono-Bold', 'LiberationMono-Bold', 'DejaVuSansMono'),
    'script': ('LeckerliOne-Regular', 'LiberationSerif-Bold', 'DejaVuSerif-Bold'),
    'cjk': ('DroidSansFallbackFull', 'ipaexg', 'NotoSansCJK-Bold'),
    'hangul': ('NanumSquareB', 'DroidSansFallbackFull', 'NotoSansCJK-Bold'),
    'thai': ('Loma-Bold', 'NotoSansThai-Bold', 'FreeSansBold'),
    'arabic': ('DejaVuSansCondensed-Bold', 'DejaVuSans-Bold'),
}
SCRIPTS = (('arabic', 0x600, 0x6ff), ('thai', 0xe00, 0xe7f), ('cjk', 0x3040, 0x30ff), ('cjk', 0x4e00, 0x9fff),
           ('hangul', 0xac00, 0xd7a3))


@functools.lru_cache(None)
def files():
    """All fonts of the first folder that has some: name without ending -> path."""
    for folder in FOLDERS:
        found = {}
        for top, _, names in os.walk(folder or '/nowhere'):
            for name in sorted(names):
                if name.lower().endswith(('.ttf', '.otf', '.ttc')):
                    found.setdefault(name.rsplit('.', 1)[0], os.path.join(top, name))
        if found:
            return found
    raise SystemExit('no fonts: name a folder in TRAIN_FONTS')


def use(folder):
    """Takes fonts from this folder."""
    global FOLDERS
    FOLDERS = (folder,) + FOLDERS
    files.cache_clear()


@functools.lru_cache(None)
def of_class(name):
    there = files()
    return tuple(there[n] for n in CLASSES[name] if n in there)


def pick(rng, name):
    """A font of the class, more often one of the first."""
    choice = of_class(name) or tuple(sorted(files().values()))
    return choice[min(int(rng.exponential(1.3)), len(choice) - 1)]


def script_of(token):
    code = ord(token[0])
    for name, low, high in SCRIPTS:
        if low <= code <= high:
            return name
    return ''


def has_script(name):
    return bool(of_class(name))


@functools.lru_cache(64)
def loaded(path):
    return ImageFont.truetype(path, SIZE)


@functools.lru_cache(6000)
def glyph(path, token, weight):
    """(mask of ROWS rows cut to the ink's width, height of the capitals)."""
    script = script_of(token)
    if script and of_class(script):
        path = of_class(script)[0]
    font = loaded(path)
    wide = int(font.getlength(token)) + 40
    picture = Image.new('L', (wide, ROWS), 0)
    ImageDraw.Draw(picture).text((20, BASE), token, font=font, fill=255, anchor='ls')
    mask = numpy.array(picture)
    if weight and not (script and weight > 1):
        kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (abs(weight) + 1,) * 2)
        mask = cv2.dilate(mask, kernel) if weight > 0 else cv2.erode(mask, kernel)
    used = numpy.flatnonzero(mask.max(0) > 60)
    if used.size == 0:
        return numpy.zeros((ROWS, SIZE // 3), numpy.uint8)
    return mask[:, used[0]:used[-1] + 1]


@functools.lru_cache(64)
def capital(path):
    mask = glyph(path, 'H', 0)
    rows = numpy.flatnonzero(mask.max(1) > 60)
    return BASE - int(rows[0]) if rows.size else SIZE * 3 // 4


def line(path, tokens, height, stretch=1.0, space=0.12, weight=0):
    """A line of text whose capitals have this height. Returns (mask, rows above the capitals). tokens: a string, or a list of
    strings each drawn as one letter."""
    up = capital(path)
    scale = height / up
    gap = max(1, round(space * height * stretch))
    parts = []
    for token in tokens:
        if token == ' ':
            parts.append(numpy.zeros((1, max(1, round(gap + 0.22 * height * stretch)))))
            continue
        mask = glyph(path, token, weight)
        wide, tall = max(1, round(mask.shape[1] * scale * stretch)), max(1, round(ROWS * scale))
        if script_of(token) in ('cjk', 'hangul', 'thai'):
            wide = max(1, round(wide * 0.95))
        parts.append(cv2.resize(mask, (wide, tall), interpolation=cv2.INTER_AREA))
    tall = max(1, round(ROWS * scale))
    total = sum(p.shape[1] + gap for p in parts) + 1
    out = numpy.zeros((tall, total), numpy.uint8)
    x = 0
    for part in parts:
        if part.shape[0] == tall:
            out[:, x:x + part.shape[1]] = part
        x += part.shape[1] + gap
    return out[:, :max(1, x - gap)], round((BASE - up) * scale)


def ink(picture, mask, x, y, colour, strength=1.0):
    """Draws the mask in a colour on a picture (float32 or uint8, RGB) in place; what lies outside is cut off."""
    h, w = mask.shape
    x0, y0, x1, y1 = max(0, x), max(0, y), min(picture.shape[1], x + w), min(picture.shape[0], y + h)
    if x1 <= x0 or y1 <= y0:
        return
    part = mask[y0 - y:y1 - y, x0 - x:x1 - x].astype(numpy.float32)[..., None] * (strength / 255)
    place = picture[y0:y1, x0:x1, :3]
    place[...] = place + (numpy.float32(colour) - place) * part


def fit(picture, box, tokens, path, colour, rng, most=1.25, least=0.45, space=0.12, weight=0, fill=0.92, align='centre'):
    """Writes a line into a box (x, y, w, h): as high as fill of the box, narrowed or widened to its width."""
    x, y, w, h = box
    height = max(3, h * fill)
    mask, above = line(path, tokens, height, 1.0, space, weight)
    stretch = w * 0.97 / mask.shape[1]
    if stretch < least:
        height = max(3, height * stretch / least)
    stretch = float(numpy.clip(stretch, least, most))
    if stretch > 1 and rng.random() < 0.5:
        stretch = rng.uniform(1, stretch)
    mask, above = line(path, tokens, height, stretch, space, weight)
    left = {'left': x, 'right': x + w - mask.shape[1]}.get(align, x + (w - mask.shape[1]) / 2)
    top = y + (h - height) / 2 - above
    ink(picture, mask, round(left), round(top), colour)
