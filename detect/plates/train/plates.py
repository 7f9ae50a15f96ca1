# SPDX-License-Identifier: MIT
"""Draws one flat number plate: draw(rng, size_hint) gives (RGBA, kind)."""

import collections
import re

import cv2
import numpy

import decor
import fonts
import kinds

LETTERS = {
    'L': 'ABCDEFGHJKLMNPRSTUVWXYZ', 'D': '0123456789', 'k': 'BCDFGHJKLPRSTVWXYZ', 'r': 'ABEKMHOPCTYX',
    'p': '京粤浙沪苏鲁川闽豫冀湘鄂', 'h': '가나다라마거너더러머고노도로모구누두루무하허호', 'j': 'さすせそたちつてとなにぬねのはひふほ',
    't': 'กขคงจฉชฌญฎฐฒณตถธนบปผพภมยรวศสฬอฮ', 'a': '٠١٢٣٤٥٦٧٨٩', 'b': 'ابحدرسصطعفقكلمنهوى',
}
NEEDS = {'p': 'cjk', 'h': 'hangul', 'j': 'cjk', 't': 'thai', 'a': 'arabic', 'b': 'arabic'}
# How the number is written: font, strokes made thicker or thinner, space between letters, how far they are pressed out.
Pen = collections.namedtuple('Pen', 'path weight space relief')

GROUPS = (('EUROPE', 0.42), ('ASIA', 0.2), ('AMERICA', 0.12), ('STATES', 0.18), ('SOUTH', 0.08))
DEALERS = ('AUTOHAUS MEYER', 'www.carshop.com', 'GARAGE DUPONT', 'Honda of Springfield', 'FORD', 'CITY MOTORS', 'autosalon.ro',
           'CONCESIONARIA SUR',
           'HILLTOP TOYOTA', 'ALUMNI', 'MOTOR GROUP', '0800 555 123', 'Smith & Sons', 'BEST CARS IN TOWN', 'AUTO-CENTER NORD',
           'LEXUS')


def choose(rng, names=None):
    """A kind, by its group and its weight."""
    group = rng.choice(len(GROUPS), p=[g[1] for g in GROUPS])
    rows = getattr(kinds, GROUPS[group][0])
    if names:
        rows = [k for k in kinds.ALL if k.name in names]
    weights = numpy.array([k.weight for k in rows])
    return rows[rng.choice(len(rows), p=weights / weights.sum())]


def number(rng, pattern):
    """Turns a pattern into lines of tokens."""
    lines = []
    for row in pattern.split('|'):
        tokens = []
        for part in re.findall(r'\[[^]]*\]|.', row):
            if part[0] == '[':
                text = part[1:-1]
                script = fonts.script_of(text)
                tokens += [text] if script and fonts.has_script(script) else list(text if not script else 'AB')
            elif part in LETTERS:
                known = part not in NEEDS or fonts.has_script(NEEDS[part])
                choice = LETTERS[part] if known else LETTERS['D']
                tokens.append(choice[rng.integers(len(choice))])
            else:
                tokens.append(part)
        lines.append(tokens)
    return lines


def ground_of(rng, kind, h, w):
    """The empty plate: one colour, or a gradient from top to bottom."""
    sky = kind.options.get('sky') or [kind.ground]
    rows = numpy.linspace(0, len(sky) - 1, h)
    table = numpy.float32(sky)
    column = numpy.stack([numpy.interp(rows, range(len(sky)), table[:, c]) for c in range(3)], 1)
    column = column * rng.uniform(0.9, 1.04) + rng.normal(0, 4, 3)
    return numpy.repeat(column[:, None], w, 1).astype(numpy.float32)


def special(picture, token, box, rng, kind):
    """A seal, a sticker or an emblem in place of a letter."""
    x, y, w, h = box
    centre, size = (int(x + w / 2), int(y + h / 2)), max(2, int(h * 0.16))
    if token == '+':
        cv2.rectangle(picture, (int(x), int(y + h * 0.2)), (int(x + w), int(y + h * 0.8)), (190, 30, 40), -1)
        cv2.line(picture, (centre[0], int(y + h * 0.32)), (centre[0], int(y + h * 0.68)), (240, 240, 240), max(1, int(w * 0.2)))
        return
    colours = ((60, 110, 190), (196, 170, 60), (60, 140, 80), (200, 200, 204), (190, 60, 50))
    for step in (-1, 1) if kind.name.startswith('de') else (0,):
        colour = colours[rng.integers(len(colours))]
        at = (centre[0], int(centre[1] + step * h * 0.23))
        cv2.circle(picture, at, size, colour, -1, cv2.LINE_AA)
        cv2.circle(picture, at, max(1, size // 2), (230, 230, 230), max(1, size // 4), cv2.LINE_AA)


def measure(tokens, path, weight, space):
    """Widths of the tokens when capitals are 100 high."""
    widths = []
    scale = 100 / fonts.capital(path)
    for token in tokens:
        if token in '*+':
            widths.append(34)
        elif token == ' ':
            widths.append(24)
        else:
            widths.append(fonts.glyph(path, token, weight).shape[1] * scale)
    return numpy.float32(widths), 100 * space


def write(picture, box, tokens, rng, kind, pen):
    """One line of the number. The letters take the whole height of the box, and are stretched to its width within limits."""
    x, y, w, h = box
    path = pen.path
    widths, gap = measure(tokens, path, pen.weight, pen.space)
    total = (widths.sum() + gap * (len(tokens) - 1)) / 100
    height = h
    stretch = w / (total * height)
    if stretch < 0.5:
        height = max(4, height * stretch / 0.5)
    wished = rng.uniform(0.8, 1.25)
    stretch = float(min(w / (total * height), wished))
    spread = w / (total * height * stretch)
    spread = 1 + (min(spread, 1.6) - 1) * rng.uniform(0, 1)
    unit = height * stretch / 100
    left = x + (w - total * height * stretch * spread) / 2
    top = y + (h - height) / 2
    up = fonts.capital(path)
    for token, wide in zip(tokens, widths):
        if token in '*+':
            special(picture, token, (left, top, wide * unit, height), rng, kind)
        elif token != ' ':
            mask = fonts.glyph(path, token, pen.weight)
            size = max(1, round(wide * unit)), max(1, round(fonts.ROWS * height / up))
            mask = cv2.resize(mask, size, interpolation=cv2.INTER_AREA)
            decor.stamp(picture, mask, round(left + (spread - 1) * wide * unit / 2),
                        round(top - (fonts.BASE - up) * height / up), kind.ink, pen.relief)
        left += (wide + gap) * unit * spread


def body(picture, rng, kind, area):
    """Texts above and below the number, and the number itself, in the area (x, y, w, h)."""
    x, y, w, h = area
    options = kind.options
    small = options.get('small')
    edge = 0.05 * h
    y, h = y + edge, h - 2 * edge
    head = options.get('headink', kind.ink)
    for name, at_top in (('top', True), ('bottom', False)):
        texts = options.get(name)
        text = texts[rng.integers(len(texts))] if texts else ''
        if not text:
            continue
        tall = h * (rng.uniform(0.1, 0.14) if small else rng.uniform(0.13, 0.2) if at_top else rng.uniform(0.1, 0.17))
        if fonts.script_of(text):
            tall = h * 0.24
            text = [text] if fonts.has_script(fonts.script_of(text)) else 'PROVINCE'
        path = fonts.pick(rng, options.get('headfont', 'us') if at_top else 'us')
        place = (x + w * 0.12, y if at_top else y + h - tall, w * 0.76, tall)
        fonts.fit(picture, place, text, path, head if at_top else kind.ink, rng, weight=0, fill=0.8)
        y, h = (y + tall, h - tall) if at_top else (y, h - tall)
    foot = options.get('foot')
    if foot:
        text = number(rng, foot)[0]
        fonts.fit(picture, (x + w * 0.35, y + h * 0.78, w * 0.3, h * 0.2), text, fonts.pick(rng, kind.fonts), kind.ink, rng)
        h *= 0.76
    lines = number(rng, kind.patterns[rng.integers(len(kind.patterns))])
    parts = options.get('rows', (1 / len(lines),) * len(lines))
    relief = rng.uniform(0, 0.5) if rng.random() < 0.6 else 0
    pen = Pen(fonts.pick(rng, kind.fonts), int(rng.choice([-3, -2, 0, 0, 2, 3, 5])), rng.uniform(0.08, 0.22), relief)
    for line, part in zip(lines, parts):
        tall = h * part
        fill = rng.uniform(0.76, 0.9) if len(lines) > 1 else rng.uniform(0.68, 0.86)
        inner = w * rng.uniform(0.9, 0.96) * (1 if part >= 0.4 else 0.75)
        write(picture, (x + (w - inner) / 2, y + tall * (1 - fill) / 2, inner, tall * fill), line, rng, kind, pen)
        y += tall


def flat(rng, kind, h):
    """The plate alone, float32 RGB, h rows high."""
    w = round(h * kind.ratio * rng.uniform(0.96, 1.04))
    options = kind.options
    picture = ground_of(rng, kind, h, w)
    decor.picture_of(picture, options.get('picture', ''), rng)
    area = decor.bands(picture, rng, kind)
    if options.get('headline'):
        colour, texts = options['headline']
        tall = h * rng.uniform(0.2, 0.27)
        cv2.rectangle(picture, (0, 0), (w, round(tall)), colour, -1)
        text = texts[rng.integers(len(texts))]
        fonts.fit(picture, (w * 0.25, 0, w * 0.5, tall), text, fonts.pick(rng, 'bold'), kinds.WHITE, rng, fill=0.5)
        decor.flag(picture, (w * 0.88, tall * 0.2, w * 0.08, tall * 0.6), rng)
        area = (area[0], tall, area[2], h - tall)
    body(picture, rng, kind, area)
    border = options.get('border', kind.ink if rng.random() < 0.6 else None)
    if options.get('tags') and rng.random() < 0.8:
        decor.tags(picture, rng)
        border = border if rng.random() < 0.3 else None
    if border is not None:
        decor.outline(picture, border, rng)
    return picture


def draw(rng, size_hint=0, names=None):
    """One plate: (RGBA uint8 with its holder, name of the kind). size_hint: rows of the plate itself, 0 for any of 60 to 160.
    names: only kinds with these names."""
    kind = choose(rng, names)
    h = int(size_hint) or int(rng.integers(60, 161))
    if kind.ratio < 2.6:
        h = int(h * 1.25)
    picture = flat(rng, kind, h)
    decor.screws(picture, rng)
    decor.age(picture, rng)
    alpha = decor.rounded(picture.shape[0], picture.shape[1], h * rng.uniform(0.03, 0.1))
    picture, alpha = decor.holder(picture, alpha, rng, kind, DEALERS)
    decor.light(picture, rng)
    out = numpy.dstack([numpy.clip(picture, 0, 255), alpha])
    return out.astype(numpy.uint8), kind.name
