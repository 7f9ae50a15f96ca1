# SPDX-License-Identifier: MIT
"""Training pictures of things with much text, or with rows of strokes, and without a number plate: page(rng, (H, W)) gives RGB uint8.
Some look like a picture of a screen, some like a photograph of a sheet that lies or hangs somewhere."""

import cv2
import numpy
from PIL import Image, ImageDraw

import decor
import patterns
import warp
import weather
from paper import CODES, INKS, SHORT, Sheet, TOKENS, code


def web(s):
    u, rng = s.unit, s.rng
    s.box(0, 0, s.w, 2.4 * u, s.accent if rng.random() < 0.6 else s.shade(14))
    x = s.text(u, 0.6 * u, s.title(1), 1.3, (255, 255, 255), True) + 2 * u
    while x < s.w:
        x = s.text(x, 0.8 * u, s.title(1), 0.9, (235, 235, 238)) + 1.5 * u
    y, columns = 3.2 * u, int(rng.integers(1, 4))
    wide = (s.w - u) / columns
    for i in range(columns):
        y = 3.2 * u
        while y < s.h:
            left, inner = u + i * wide, wide - 1.5 * u
            what = rng.integers(4)
            if what == 0:
                s.photo(left, y, inner, inner * rng.uniform(0.3, 0.6))
                y += inner * 0.62
            elif what == 1:
                s.text(left, y, s.title(4), 1.5, s.accent, True)
                y += 2.2 * u
            elif what == 2:
                s.box(left, y, left + min(inner, 7 * u), y + 1.8 * u, s.accent, None, 0.4 * u)
                s.text(left + min(inner, 7 * u) / 2, y + 0.9 * u, s.title(1), 0.9, (250, 250, 250), True, 'mm')
                y += 2.6 * u
            y = s.paragraph(left, y, inner, int(rng.integers(1, 7)), 0.9) + 0.8 * u


def editor(s):
    """Code, or a terminal."""
    u, rng, depth, plain = s.unit, s.rng, 0, s.rng.random() < 0.35
    left = 0 if plain else 3 * u
    s.box(0, 0, left - u / 2, s.h, s.shade(8))
    for i in range(int(s.h / (1.3 * u)) + 1):
        y = 1.3 * u * i
        if not plain:
            s.text(left - u, y, str(i + 1), 0.9, (130, 130, 134), anchor='ra')
        depth = int(numpy.clip(depth + rng.integers(-1, 2), 0, 4))
        x = left + (0 if plain else depth * 2 * u)
        for _ in range(int(rng.integers(0, 8))):
            token = (s.words(1), code(rng), '= (', '{', '"' + s.words(2) + '"', ');', '->', '$ ' + s.words(1))[rng.integers(8)]
            x = s.text(x, y, token, 1, TOKENS[rng.integers(6)] if rng.random() < 0.6 else s.ink) + 0.6 * u
            if x > s.w:
                break


def table(s):
    """A table, a calendar or a spreadsheet: short codes between lines."""
    u, rng = s.unit, s.rng
    wide, tall = u * rng.uniform(3, 9), u * rng.uniform(1.4, 3.2)
    templates = [CODES[rng.integers(len(CODES))] for _ in range(40)]
    days, line = rng.random() < 0.2, s.shade(40)
    s.text(u, 0.4 * u, s.title(3), 1.4, None, True)
    for j, y in enumerate(numpy.arange(2.5 * u, s.h, tall)):
        if j == 0 or (j % 2 and line[0] % 2):
            s.box(0, y, s.w, y + tall, s.accent if j == 0 else s.shade(10))
        for i, x in enumerate(numpy.arange(u / 2, s.w, wide)):
            text = str((j * 7 + i) % 31 + 1) if days else s.words(1) if j == 0 or i % 5 == 1 else code(rng, templates[i % 40])
            s.text(x + wide / 2, y + tall / 2, text, 1, (250, 250, 250) if j == 0 else None, rng.random() < 0.1, 'mm', wide * 0.92)
            s.draw.line((x, y, x, y + tall), line)
        s.draw.line((0, y, s.w, y), line)


def form(s):
    """Names of fields, and boxes with something short in them."""
    u, rng, y = s.unit, s.rng, 3 * s.unit
    s.text(u, 0.8 * u, s.title(3), 1.6, s.accent, True)
    columns, radius = int(rng.integers(1, 4)), rng.choice((0, 0.3)) * u
    wide = (s.w - u) / columns
    while y < s.h:
        for i in range(columns):
            x = u + i * wide
            s.text(x, y, s.title(2), 0.8, s.shade(130))
            inner = min(wide - 1.5 * u, u * rng.uniform(5, 14))
            if rng.random() < 0.25:  # a box for each letter
                text = code(rng).replace(' ', '')
                for k, letter in enumerate(text):
                    s.box(x + k * 1.5 * u, y + 1.2 * u, x + (k + 1) * 1.5 * u, y + 3 * u, None, s.ink)
                    s.text(x + (k + 0.5) * 1.5 * u, y + 2.1 * u, letter, 1.2, None, rng.random() < 0.5, 'mm')
            elif rng.random() < 0.15:
                s.box(x, y + 1.4 * u, x + u, y + 2.4 * u, None, s.ink)
                s.text(x + 1.5 * u, y + 1.3 * u, s.words(3))
            else:
                ground = s.shade(20) if s.dark else (255, 255, 255)
                s.box(x, y + 1.2 * u, x + inner, y + 3 * u, ground, s.shade(rng.uniform(50, 200)), radius, max(1, int(u * 0.08)))
                middle = rng.random() < 0.5
                text = code(rng) if rng.random() < 0.8 else s.words(1)
                s.text(x + (inner / 2 if middle else u / 2), y + 2.1 * u, text, 1.2, None, rng.random() < 0.4,
                       'mm' if middle else 'lm', inner - u)
        y += 4 * u


def receipt(s):
    u, rng, y = s.unit, s.rng, s.unit
    s.text(s.w / 2, y, s.title(2), 1.8, None, True, 'ma')
    y += 2.6 * u
    for _ in range(2):
        s.text(s.w / 2, y, s.words(3), 0.9, anchor='ma')
        y += 1.3 * u
    while y < s.h * 0.85:
        if rng.random() < 0.15:
            s.draw.line((u, y + 0.6 * u, s.w - u, y + 0.6 * u), s.ink, 1)
        else:
            s.text(u, y, f'{rng.integers(1, 4)} {s.title(2)}')
            s.text(s.w - u, y, code(rng, ('9.99', '99,99', '9.99 A')[rng.integers(3)]), anchor='ra')
        y += 1.35 * u
    s.text(u, y, s.title(1), 1.7, None, True)
    s.text(s.w - u, y, code(rng, '99.99'), 1.7, None, True, 'ra')
    s.stripes(s.w * 0.2, y + 2.6 * u, s.w * 0.6, 2.5 * u)


def letter(s):
    """A letter, or a page of a book, in one column or two."""
    u, rng = s.unit, s.rng
    edge, columns = s.w * rng.uniform(0.03, 0.12), 1 + int(rng.random() < 0.3)
    y = edge
    if rng.random() < 0.6:
        s.box(edge, y, edge + 3 * u, y + 3 * u, s.accent, None, rng.choice((0, 1.5)) * u)
        s.text(edge + 4 * u, y, s.title(2), 1.8, s.accent, True)
        s.text(s.w - edge, y + 2.2 * u, code(rng, '99.99.9999'), 1, anchor='ra')
        y = s.paragraph(edge, y + 5 * u, 12 * u, 3) + u
    wide = (s.w - edge * (1 + columns)) / columns
    for i in range(columns):
        below = y
        while below < s.h - edge:
            if rng.random() < 0.2:
                s.text(edge + i * (wide + edge), below, s.title(3), 1.3, None, True)
                below += 2 * u
            below = s.paragraph(edge + i * (wide + edge), below, wide, int(rng.integers(2, 12))) + 0.7 * u


def card(s):
    """Cards: of identity without a plate, tickets, badges, product labels. Several on a table or a screen."""
    u, rng = s.unit, s.rng
    wide, tall = u * rng.uniform(14, 26), u * rng.uniform(7, 14)
    for y in numpy.arange(-rng.random() * tall, s.h, tall * 1.12):
        for x in numpy.arange(-rng.random() * wide, s.w, wide * 1.08):
            ground = tuple(int(v) for v in rng.integers(150, 256, 3)) if rng.random() < 0.6 else INKS[rng.integers(len(INKS))]
            ink = (24, 24, 28) if sum(ground) > 380 else (244, 244, 244)
            s.box(x, y, x + wide, y + tall, ground, s.shade(60), u * rng.uniform(0, 1))
            s.box(x, y, x + wide, y + 1.7 * u, s.accent, None, u * 0.4)
            s.text(x + u, y + 0.3 * u, s.title(2), 1, (250, 250, 250), True)
            if rng.random() < 0.5:
                s.photo(x + u, y + 2.4 * u, 3.5 * u, 4.2 * u)
            left, at = x + 5.5 * u, y + 2.3 * u
            while at < y + tall - 1.5 * u:
                size = rng.choice((0.7, 1, 1, 1.9))
                text = code(rng) if rng.random() < 0.6 else s.title(1)
                s.text(left, at, text, size, ink, rng.random() < 0.4, 'la', x + wide - left - u / 2)
                at += size * 1.4 * u
            if rng.random() < 0.3:
                s.stripes(x + wide * 0.6, y + tall - 2.6 * u, wide * 0.35, 2 * u)


def tiles(s):
    """Tiles with numbers: dashboards, prices on a shelf, boards of scores and of departures, keys."""
    u, rng, templates = s.unit, s.rng, [SHORT[i] for i in s.rng.integers(len(SHORT), size=3)]
    wide, tall, gap = u * rng.uniform(2.4, 9), u * rng.uniform(2, 5), u * rng.uniform(0.1, 1.2)
    keys, radius = rng.random() < 0.3, rng.uniform(0, 0.5) * u
    if keys:
        wide, tall = 2.6 * u, 2.4 * u
    ground = s.shade(22) if rng.random() < 0.5 else ((250, 250, 250), (250, 220, 40), (16, 16, 18), (200, 20, 30))[rng.integers(4)]
    ink = (24, 24, 28) if sum(ground) > 380 else ((244, 244, 244), (255, 170, 30), (90, 255, 110))[rng.integers(3)]
    for j, y in enumerate(numpy.arange(gap, s.h, (tall + gap) * (1 if keys else rng.uniform(1, 1.5)))):
        for x in numpy.arange(gap - (j * 0.4 * u if keys else 0), s.w, wide + gap):
            s.box(x, y, x + wide, y + tall, ground, s.shade(60) if rng.random() < 0.9 else None, radius)
            if keys:
                s.text(x + wide * 0.4, y + tall * 0.4, code(rng, 'A' if j else '9'), 1.2, ink, False, 'mm')
                continue
            s.text(x + wide / 2, y + tall * 0.55, code(rng, templates[rng.integers(3)]), rng.uniform(1, 1.7), ink, True, 'mm',
                   wide * 0.9)
            if tall > 3 * u:
                s.text(x + 0.3 * u, y + 0.2 * u, s.words(1), 0.7, ink)


def town(s):
    """A map with names."""
    u, rng = s.unit, s.rng
    for _ in range(int(rng.integers(3, 9))):
        x, y = rng.uniform(0, s.w), rng.uniform(0, s.h)
        points = [(x + dx, y + dy) for dx, dy in rng.normal(0, s.w / 6, (4, 2))]
        s.draw.polygon(points, ((200, 224, 190), (170, 210, 235), s.shade(20))[rng.integers(3)])
    for wide, paint, count in ((0.25, s.shade(40), 24), (0.9, (255, 255, 255), 12), (1.4, (250, 214, 120), 3)):
        for _ in range(count):
            points = numpy.cumsum(rng.normal(0, s.w / 3, (4, 2)), 0) + rng.uniform(0, s.w, 2)
            s.draw.line([tuple(p) for p in points], paint, max(1, int(wide * u)), 'curve')
    for _ in range(int(s.w * s.h / (60 * u * u))):
        x, y = rng.uniform(0, s.w), rng.uniform(0, s.h)
        if rng.random() < 0.15:
            s.box(x - 1.6 * u, y - 0.7 * u, x + 1.6 * u, y + 0.7 * u, s.accent, (255, 255, 255), 0.3 * u)
            s.text(x, y, code(rng, ('A9', 'A99', '999')[rng.integers(3)]), 0.9, (255, 255, 255), True, 'mm')
        else:
            s.text(x, y, s.title(2), rng.choice((0.7, 0.9, 1.3)), s.shade(150), rng.random() < 0.3, 'mm')


def chat(s):
    """Bubbles of a chat, and now and then a line of subtitles on a picture."""
    u, rng, y = s.unit, s.rng, s.unit
    if rng.random() < 0.3:
        s.photo(0, 0, s.w, s.h)
        for i in range(int(rng.integers(1, 3))):
            s.text(s.w / 2, s.h * 0.85 + 1.6 * i * u, s.words(5), 1.4, (250, 250, 250), True, 'mm')
        return
    while y < s.h:
        rows, wide = int(rng.integers(1, 5)), s.w * rng.uniform(0.2, 0.65)
        mine = rng.random() < 0.5
        x = s.w - wide - u if mine else u
        s.box(x, y, x + wide, y + (rows * 1.4 + 1.8) * u, s.accent if mine else s.shade(18), None, 0.8 * u)
        s.paragraph(x + 0.7 * u, y + 0.5 * u, wide - 1.4 * u, rows, 1, (250, 250, 250) if mine else None)
        s.text(x + wide - 0.5 * u, y + (rows * 1.4 + 0.6) * u, code(rng, '99:99'), 0.7, s.shade(110), anchor='ra')
        y += (rows * 1.4 + 2.8) * u


def poster(s):
    """Few large words: posters, shop signs, labels, clocks of digits."""
    u, rng = s.unit, s.rng
    s.box(0, 0, s.w, s.h, INKS[rng.integers(len(INKS))] if rng.random() < 0.5 else s.paper)
    if rng.random() < 0.5:
        s.photo(0, s.h * rng.uniform(0, 0.5), s.w, s.h * rng.uniform(0.2, 0.5))
    y = s.h * rng.uniform(0, 0.1)
    while y < s.h:
        size = float(rng.choice((1, 1.5, 3, 5)))
        ink = ((250, 250, 250), (20, 20, 24), (250, 220, 40), (200, 20, 30))[rng.integers(4)]
        if rng.random() < 0.3:
            light = rng.random() < 0.6
            ground, ink = (((250, 250, 250), (250, 220, 40))[rng.integers(2)], (20, 20, 24)) if light else (s.accent, (250, 250, 250))
            s.box(s.w * 0.1, y, s.w * 0.9, y + size * 1.25 * u, ground)
        text = code(rng, SHORT[rng.integers(len(SHORT))]) if rng.random() < 0.4 else s.title(1 if size > 2 else 4)
        s.text(s.w * rng.uniform(0.4, 0.6), y, text, size, ink, True, 'ma', s.w * 0.8)
        y += size * u * rng.uniform(1.3, 2.2)


def shelf(s):
    """Spines of books, or boxes, one beside another, with text that runs down."""
    u, rng, tall = s.unit, s.rng, s.unit * s.rng.uniform(9, 18)
    for y in numpy.arange(0, s.h, tall):
        x = 0.0
        while x < s.w:
            wide, high = u * rng.uniform(1.2, 3.5), tall * rng.uniform(0.65, 0.93)
            ground = tuple(int(v) for v in patterns.colour(rng))
            spine = Image.new('RGB', (max(4, int(high)), max(4, int(wide))), ground)
            text = s.title(int(rng.integers(1, 4))) if rng.random() < 0.8 else code(rng)
            face = s.face(text, wide * rng.uniform(0.35, 0.65), True)
            ink = (250, 244, 220) if sum(ground) < 380 else (30, 26, 24)
            ImageDraw.Draw(spine).text((high / 2, wide / 2), text, ink, face, 'mm')
            s.image.paste(spine.transpose(Image.ROTATE_270), (int(x), int(y + tall * 0.93 - high)))
            x += wide + 1
        s.box(0, y + tall * 0.93, s.w, y + tall, (120, 84, 50))


def dial(s):
    """Clocks, gauges and scales: numbers and strokes around a middle."""
    u, rng, size = s.unit, s.rng, s.unit * s.rng.uniform(5, 14)
    count, whole, ink = int(rng.integers(8, 17)), rng.choice((1.5 * numpy.pi, 2 * numpy.pi)), s.ink
    for y in numpy.arange(size * 0.6, s.h + size, size * 2.4):
        for x in numpy.arange(size * 0.6, s.w + size, size * 2.4):
            s.draw.ellipse((x - size * 1.1, y - size * 1.1, x + size * 1.1, y + size * 1.1), s.shade(12), s.accent, max(1, int(u * 0.2)))
            for i in range(count * 5):
                angle = 2.36 + whole * i / (count * 5)
                inner = 0.9 if i % 5 else 0.82
                cos, sin = size * numpy.cos(angle), size * numpy.sin(angle)
                s.draw.line((x + inner * cos, y + inner * sin, x + cos, y + sin), ink, max(1, int(u * (0.08 if i % 5 else 0.2))))
                if i % 5 == 0:
                    s.text(x + 0.66 * cos, y + 0.66 * sin, str(i // 5 * (20 if whole < 6 else 1)), 0.9, ink, True, 'mm')
            for part in (0.5, 0.8):
                angle = rng.uniform(0, 6.28)
                tip = x + part * size * numpy.cos(angle), y + part * size * numpy.sin(angle)
                s.draw.line((x, y, *tip), s.accent, max(1, int(u * 0.25)))
            s.text(x, y + size * 0.35, code(rng, ('99:99', '999', 'AAA')[rng.integers(3)]), 0.8, ink, False, 'mm')


KINDS = ((web, 2, ''), (editor, 2, 'mono'), (table, 2, ''), (form, 3, ''), (receipt, 1, 'mono'), (letter, 2, ''), (card, 2, ''),
         (tiles, 3, ''), (town, 1, ''), (chat, 1, ''), (poster, 2, ''), (shelf, 1, ''), (dial, 0.7, ''))
_SHARES = numpy.float64([share for _, share, _ in KINDS]) / sum(share for _, share, _ in KINDS)


def flat(rng, h, w):
    """One page as it is drawn."""
    make, _, kind = KINDS[rng.choice(len(KINDS), p=_SHARES)]
    dark = rng.random() < {'editor': 0.7, 'web': 0.3, 'tiles': 0.5, 'chat': 0.4, 'table': 0.2, 'form': 0.2}.get(make.__name__, 0)
    sheet = Sheet(rng, h, w, None, dark, kind or None)
    make(sheet)
    return numpy.array(sheet.image)


def surface(rng, h, w):
    """What lies behind a page."""
    if rng.random() < 0.4:
        return patterns.draw(rng, h, w)
    return patterns.ground(rng, h, w)


def lay(rng, picture, sheet, height):
    """Puts a sheet into a picture, seen at a slant."""
    h, w = sheet.shape[:2]
    quad = warp.random_pose(rng, w, h, height, 0.8)
    if rng.random() < 0.1:
        quad = quad @ numpy.float64([[0, 1], [-1, 0]])
    quad = quad + (picture.shape[1] * rng.uniform(0.25, 0.75), picture.shape[0] * rng.uniform(0.25, 0.75))
    edge = numpy.full((h, w, 1), 255, numpy.uint8)
    warp.paste(picture, numpy.concatenate([sheet, edge], 2), quad, blur=rng.exponential(0.3))


def shadow(rng, picture):
    """Uneven light: a gradient, and at times the hard edge of a shadow."""
    h, w = picture.shape[:2]
    small = numpy.ones((40, 40), numpy.float32) + 0.2 * decor.field(rng, 40, 40, 3)
    if rng.random() < 0.4:
        part = numpy.zeros((40, 40), numpy.float32)
        cv2.fillConvexPoly(part, cv2.convexHull(rng.integers(-20, 60, (5, 2)).astype(numpy.int32)), 1)
        small *= 1 - cv2.GaussianBlur(part, (0, 0), rng.uniform(0.3, 3)) * rng.uniform(0.2, 0.65)
    light = cv2.resize(small, (w, h), interpolation=cv2.INTER_CUBIC)
    return cv2.multiply(picture, cv2.merge([light] * 3), dtype=cv2.CV_8U)


def page(rng, want):
    """A picture of want = (height, width)."""
    h, w = want
    way = rng.random()
    if way < 0.3:  # what a screen shows
        picture = flat(rng, h, w)
        return weather.jpeg(picture, rng) if rng.random() < 0.4 else picture
    if way < 0.5:
        picture = patterns.draw(rng, h, w)
    elif way < 0.7:
        picture = flat(rng, h, w)
    else:
        picture = surface(rng, h, w)
        for _ in range(1 + int(rng.exponential(0.5))):
            tall = int(h * rng.uniform(0.45, 1.2))
            lay(rng, picture, flat(rng, tall, int(tall * rng.uniform(0.4, 1.5))), tall * rng.uniform(0.8, 1.4))
    if rng.random() < 0.7:
        picture = shadow(rng, picture)
    return weather.finish(picture, rng)
