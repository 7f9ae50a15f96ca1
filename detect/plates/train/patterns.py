# SPDX-License-Identifier: MIT
"""Draws what looks like a row of strokes and is no text: fences, grilles, facades, cloth, shelves of books, car lamps, wheels. Each
drawing is f(rng, h, w) and gives RGB uint8."""

import cv2
import numpy

import decor
import fonts

BRANDS = ('RANGE', 'VOLVO', 'FORD', 'SKODA', 'JEEP', 'TESLA', 'DACIA', 'KIA', 'SEAT', 'MAZDA', 'LEXUS', 'GMC', 'OPEL', 'CUPRA',
          'MINI', 'SAAB', 'LANCIA', 'ISUZU', 'BYD', 'TATA', '4x4', 'TDI', 'GTX', 'V8', 'e-tron', 'AMG', 'S 500', 'M3', 'RS6', '208', 'ID.4')


def colour(rng, low=0, high=255):
    """Any colour, mostly a dull one."""
    grey = rng.uniform(low, high)
    return numpy.clip(grey + rng.normal(0, 12 if rng.random() < 0.6 else 55, 3), 0, 255).astype(numpy.float32)


def ground(rng, h, w, base=None, rough=6):
    """A plain surface: uneven light and some grain."""
    base = colour(rng) if base is None else numpy.float32(base)
    light = 1 + 0.12 * decor.field(rng, h, w, 3) + rng.normal(0, 0.15) * numpy.linspace(-1, 1, w, dtype=numpy.float32)
    grain = cv2.resize(rng.normal(0, rough, (h // 2 + 1, w // 2 + 1)).astype(numpy.float32), (w, h))
    return (base * light[..., None] + grain[..., None]).clip(0, 255).astype(numpy.uint8)


def points(*pairs):
    return numpy.round(numpy.float32(pairs)).astype(numpy.int32)


def bars(rng, h, w):
    """Fences, radiators, vents, blinds: bars one beside another, some lying, some crossed."""
    out = ground(rng, h, w).astype(numpy.float32)
    step = numpy.exp(rng.uniform(numpy.log(5), numpy.log(w / 5)))
    part = rng.uniform(0.2, 0.8)
    for turn in range(1 + (rng.random() < 0.25)):
        at = numpy.arange(w, dtype=numpy.float32) / step + rng.random()
        phase = at % 1
        across = numpy.sqrt(numpy.clip(1 - (2 * phase / part - 1) ** 2, 0, 1)) if rng.random() < 0.6 else numpy.ones_like(phase)
        inside = numpy.clip((part - phase) * step, 0, 1) * numpy.clip(phase * step, 0, 1)
        paint = colour(rng) * (0.45 + 0.6 * across)[:, None]
        length = rng.uniform(0.15, 1) if rng.random() < 0.5 else 1
        top = int(rng.uniform(0, 1 - length) * h)
        rows = slice(top, top + max(4, int(length * h)))
        out[rows] = out[rows] * (1 - inside[None, :, None]) + (paint * inside[:, None])[None]
        if rng.random() < 0.6:
            for y in (rows.start, min(h, rows.stop)):
                cv2.rectangle(out, (0, y - int(step * part / 2)), (w, y + int(step * part / 2)), colour(rng).tolist(), -1)
        if turn or rng.random() < 0.4:
            out = cv2.resize(numpy.ascontiguousarray(out.transpose(1, 0, 2)), (w, h))
    return out.clip(0, 255).astype(numpy.uint8)


def facade(rng, h, w):
    """A house with many windows, whose panes are light or dark."""
    out = ground(rng, h, w, colour(rng, 60, 230))
    step_x, step_y = rng.uniform(12, 90), rng.uniform(14, 90)
    wide, tall = step_x * rng.uniform(0.4, 0.85), step_y * rng.uniform(0.4, 0.85)
    frame, pane, panes = colour(rng, 30, 250).tolist(), colour(rng, 10, 120), int(rng.integers(1, 4))
    balcony = rng.random() < 0.3
    for y in numpy.arange(-rng.random() * step_y, h, step_y):
        for x in numpy.arange(-rng.random() * step_x * 0.1, w, step_x):
            shade = (pane * rng.uniform(0.5, 1.4) + (rng.random() < 0.12) * numpy.float32((120, 110, 70))).clip(0, 255).tolist()
            cv2.rectangle(out, (int(x), int(y)), (int(x + wide), int(y + tall)), frame, -1)
            for i in range(panes):
                left = x + wide * (i + 0.1) / panes
                end = int(left + wide * 0.8 / panes), int(y + tall * 0.92)
                cv2.rectangle(out, (int(left), int(y + tall * 0.08)), end, shade, -1)
            if balcony:
                for left in numpy.arange(x, x + wide, max(2, wide / 9)):
                    cv2.line(out, (int(left), int(y + tall * 0.7)), (int(left), int(y + tall)), frame, 1)
    for y in numpy.arange(rng.uniform(0, h), h, step_y * 3):
        cv2.rectangle(out, (0, int(y)), (w, int(y + step_y * 0.1)), frame, -1)
    return out


def cloth(rng, h, w):
    """Stripes, checks, dots and other things that come again and again."""
    size = int(rng.integers(8, 70))
    tile = numpy.empty((size, size, 3), numpy.uint8)
    tile[...] = colour(rng)
    way = rng.integers(4)
    for _ in range(int(rng.integers(1, 4))):
        at, wide, paint = int(rng.integers(size)), int(rng.integers(1, max(2, size // 2))), colour(rng).tolist()
        if way == 0:
            cv2.rectangle(tile, (at, 0), (at + wide, size), paint, -1)
        elif way == 1:
            cv2.rectangle(tile, ((0, at), (at, 0))[rng.integers(2)], (at + wide, at + wide), paint, -1)
        elif way == 2:
            cv2.circle(tile, (size // 2, size // 2), max(1, wide // 2), paint, -1, cv2.LINE_AA)
        else:
            cv2.line(tile, (at, 0), (size - at, size), paint, max(1, wide // 3), cv2.LINE_AA)
    out = numpy.tile(tile, (h // size + 2, w // size + 2, 1))[:h, :w]
    soft = numpy.float32(rng.uniform(4, 20)) * decor.field(rng, h, w, 4)
    ys, xs = numpy.mgrid[:h, :w].astype(numpy.float32)
    out = cv2.remap(out, xs + soft, ys + soft[::-1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    return (out * (1 + 0.02 * soft[..., None])).clip(0, 255).astype(numpy.uint8)


def teeth(rng, h, w):
    """Rows of light blocks: teeth, keys of a piano, tiles, pills, buttons, bricks."""
    out = ground(rng, h, w, colour(rng, 0, 130))
    paint, y = colour(rng, 150, 255), 0.0
    tall, ratio, gap = rng.uniform(12, 130), rng.uniform(0.3, 2.4), rng.uniform(0.02, 0.3)
    while y < h:
        x = -rng.random() * tall
        while x < w:
            wide = tall * ratio * rng.uniform(0.85, 1.15)
            shade = (paint * rng.uniform(0.85, 1.08)).clip(0, 255).tolist()
            if rng.random() < 0.95:
                half, low = wide * (1 - gap) / 2, int(y + tall * 0.85)
                cv2.rectangle(out, (int(x), int(y)), (int(x + 2 * half), low), shade, -1)
                cv2.ellipse(out, (int(x + half), low), (int(half), int(tall * 0.1)), 0, 0, 180, shade, -1, cv2.LINE_AA)
            x += wide
        y += tall * rng.uniform(1, 1 + 3 * gap)
    return cv2.GaussianBlur(out, (0, 0), rng.uniform(0.4, 1.6))


def lamp(rng, h, w):
    """A lamp of a car: a clear or red cover, in it bowls or a lattice that shines, and paint around it."""
    paint = colour(rng, 10, 240)
    out = ground(rng, h, w, paint, 2)
    cx, cy, rx, ry = w * rng.uniform(0.3, 0.7), h * rng.uniform(0.3, 0.7), w * rng.uniform(0.2, 0.5), h * rng.uniform(0.1, 0.35)
    angles = numpy.linspace(0, 2 * numpy.pi, 40)
    power = rng.uniform(0.35, 1)
    shape = points(*zip(cx + rx * numpy.sign(numpy.cos(angles)) * abs(numpy.cos(angles)) ** power + 0.3 * rx * numpy.sin(angles),
                        cy + ry * numpy.sign(numpy.sin(angles)) * abs(numpy.sin(angles)) ** power))
    inner = ground(rng, h, w, ((190, 190, 196), (150, 12, 20), (120, 124, 130), (230, 130, 30))[rng.integers(4)])
    step, shine = rng.uniform(5, 40), (colour(rng, 150, 255)).tolist()
    for i in range(-int(w / step), int(2 * w / step)):
        cv2.line(inner, (int(i * step), 0), (int(i * step), h), shine, max(1, int(step * 0.2)), cv2.LINE_AA)
        if rng.random() < 0.5:
            cv2.line(inner, (0, int(i * step)), (w, int(i * step)), (60, 60, 64), max(1, int(step * 0.15)), cv2.LINE_AA)
    for _ in range(int(rng.integers(1, 4))):
        at, radius = (int(rng.uniform(cx - rx, cx + rx)), int(cy + rng.normal(0, ry * 0.2))), ry * rng.uniform(0.3, 0.9)
        for part, shade in ((1, (70, 70, 74)), (0.9, (215, 218, 224)), (0.55, (90, 92, 98)), (0.35, (250, 250, 244))):
            cv2.circle(inner, at, max(1, int(radius * part)), shade, -1, cv2.LINE_AA)
    mask = numpy.zeros((h, w), numpy.uint8)
    cv2.fillPoly(mask, [shape], 255, cv2.LINE_AA)
    out = numpy.where(mask[..., None] > 127, inner, out)
    cv2.polylines(out, [shape], True, (paint * 0.4).tolist(), max(1, w // 120), cv2.LINE_AA)
    return out


def wheel(rng, h, w):
    """A wheel with spokes, and the paint around it."""
    out = ground(rng, h, w, colour(rng), 3)
    centre, radius = (w * rng.uniform(0.3, 0.7), h * rng.uniform(0.3, 0.7)), min(h, w) * rng.uniform(0.2, 0.48)
    at = (int(centre[0]), int(centre[1]))
    metal, dark = colour(rng, 130, 240), colour(rng, 5, 60).tolist()
    for part, shade in ((1.2, dark), (0.86, metal.tolist()), (0.8, dark)):
        cv2.circle(out, at, int(radius * part), shade, -1, cv2.LINE_AA)
    spokes, wide = int(rng.integers(4, 21)), rng.uniform(0.03, 0.2)
    for angle in numpy.arange(spokes) * 2 * numpy.pi / spokes + rng.random():
        across = numpy.float32((-numpy.sin(angle), numpy.cos(angle)))
        along = numpy.float32((numpy.cos(angle), numpy.sin(angle)))
        root, tip = centre + along * radius * 0.12, centre + along * radius * 0.82
        side, shade = across * radius * wide, (metal * rng.uniform(0.75, 1.05)).clip(0, 255).tolist()
        cv2.fillConvexPoly(out, points(root - side, root + side, tip + side * 0.7, tip - side * 0.7), shade, cv2.LINE_AA)
        cv2.circle(out, points(centre + along * radius * 0.1)[0].tolist(), max(1, int(radius * 0.02)), dark, -1)
    cv2.circle(out, at, int(radius * 0.14), (metal * 0.8).tolist(), -1, cv2.LINE_AA)
    return out


def emblem(rng, h, w):
    """Chrome letters, and at times a badge, on paint."""
    out = ground(rng, h, w, colour(rng, 5, 230), 2).astype(numpy.float32)
    for _ in range(int(rng.integers(1, 4))):
        tall = h * rng.uniform(0.05, 0.2)
        name, stretch = BRANDS[rng.integers(len(BRANDS))], rng.uniform(0.9, 1.5)
        mask, _ = fonts.line(fonts.pick(rng, 'bold'), name, tall, stretch, rng.uniform(0.1, 0.9))
        x, y, step = int(rng.uniform(-0.1, 0.4) * w), int(rng.uniform(0, 0.8) * h), max(1, int(tall / 20))
        fonts.ink(out, mask, x + step, y + step, (20, 20, 24), 0.8)
        chrome = 150 + 90 * numpy.sin(numpy.linspace(0, rng.uniform(3, 9), mask.shape[0]))[:, None]
        fonts.ink(out, (mask * numpy.clip(chrome / 255, 0.2, 1)).astype(numpy.uint8), x, y, (240, 242, 246))
        if rng.random() < 0.5:
            cv2.ellipse(out, (int(w * rng.random()), int(h * rng.random())), (int(tall * 1.5), int(tall)), 0, 0, 360, (200, 202, 208),
                        max(1, int(tall * 0.15)), cv2.LINE_AA)
    if rng.random() < 0.6:
        y = int(h * rng.random())
        cv2.line(out, (0, y), (w, y + int(rng.normal(0, h / 10))), (30, 30, 32), max(1, h // 150), cv2.LINE_AA)
    return out.clip(0, 255).astype(numpy.uint8)


ALL = (bars, bars, facade, facade, cloth, teeth, lamp, wheel, emblem)


def draw(rng, h, w):
    return ALL[rng.integers(len(ALL))](rng, h, w)
