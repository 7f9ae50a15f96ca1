# SPDX-License-Identifier: MIT
"""What is on a plate beside its number: bands, pictures, screws, dirt, light, and the holder around it. All pictures here are
float32 RGB and are changed in place."""

import cv2
import numpy

import fonts

WHITE = (238, 238, 236)


def stamp(picture, mask, x, y, colour, relief):
    """A letter, pressed out of the plate when relief is above 0: its edges catch light above and cast shade below."""
    if relief > 0:
        step = max(1, mask.shape[0] // 70)
        fonts.ink(picture, mask, x - step, y - step, (255, 255, 255), relief * 0.6)
        fonts.ink(picture, mask, x + step, y + step, (60, 60, 60), relief * 0.7)
    fonts.ink(picture, mask, x, y, colour)


def field(rng, h, w, cells):
    """Smooth noise from about -1 to 1."""
    small = rng.normal(0, 0.6, (cells, max(2, round(cells * w / h)))).astype(numpy.float32)
    return cv2.resize(small, (w, h), interpolation=cv2.INTER_CUBIC)


def flag(picture, box, rng):
    x, y, w, h = (round(v) for v in box)
    colours = rng.integers(0, 3, 3)
    for i in range(3):
        colour = ((200, 40, 40), (240, 220, 60), (30, 130, 70), (240, 240, 240))[(int(colours[i]) + i) % 4]
        cv2.rectangle(picture, (x, y + i * h // 3), (x + w, y + (i + 1) * h // 3), colour, -1)


def stars(picture, centre, radius):
    for angle in numpy.arange(12) * numpy.pi / 6:
        at = int(centre[0] + radius * numpy.cos(angle)), int(centre[1] + radius * numpy.sin(angle))
        cv2.circle(picture, at, max(1, int(radius * 0.17)), (250, 210, 40), -1, cv2.LINE_AA)


def left_band(picture, code, rng, square):
    """A blue band with a country's letters. Returns its width."""
    h, w = picture.shape[:2]
    tall = h // 2 if square else h
    wide = round((0.42 if not square else 0.26) * tall * rng.uniform(0.85, 1.1)) if not square else round(w * 0.13)
    colour = numpy.float32((20, 60, 150)) * rng.uniform(0.8, 1.3)
    if code == 'EV':
        colour = (20, 130, 80)
    cv2.rectangle(picture, (0, 0), (wide, tall), [float(c) for c in colour], -1)
    if code == 'UA':
        cv2.rectangle(picture, (round(wide * 0.15), round(h * 0.3)), (round(wide * 0.85), round(h * 0.5)), (250, 214, 40), -1)
    elif code in ('N', 'TR', 'IND', 'KOR', 'UK', 'IL', 'IR'):
        if code not in ('TR', 'IND'):
            flag(picture, (wide * 0.15, tall * 0.12, wide * 0.7, tall * 0.25), rng)
    else:
        stars(picture, (wide / 2, tall * 0.3), min(wide * 0.33, tall * 0.2))
    fonts.fit(picture, (wide * 0.08, tall * 0.6, wide * 0.84, tall * 0.34), code, fonts.pick(rng, 'bold'), WHITE, rng,
              fill=0.75 if len(code) < 3 else 0.5)
    return wide


def right_band(picture, what, rng):
    h, w = picture.shape[:2]
    if what == 'region':
        wide = round(0.4 * h)
        cv2.rectangle(picture, (w - wide, 0), (w, h), [float(c) for c in numpy.float32((24, 60, 150)) * rng.uniform(0.8, 1.2)],
                      -1)
        text = f'{rng.integers(1, 96):02d}'
        fonts.fit(picture, (w - wide * 0.9, h * 0.58, wide * 0.8, h * 0.34), text, fonts.pick(rng, 'bold'), WHITE, rng,
                  fill=0.7)
        cv2.circle(picture, (w - wide // 2, round(h * 0.3)), max(1, round(wide * 0.24)), (230, 200, 60), max(1, wide // 8),
                   cv2.LINE_AA)
        return wide
    wide = round((0.95 if what == 'russia' else 0.8 if what == 'iran' else 0.3) * h)
    cv2.line(picture, (w - wide, 0), (w - wide, h), (30, 30, 34), max(1, h // 40))
    text = str(rng.integers(1, 199)) if what == 'russia' else 'KSA' if what == 'ksa' else str(rng.integers(10, 99))
    fonts.fit(picture, (w - wide * 0.9, h * 0.1, wide * 0.8, h * 0.5), text, fonts.pick(rng, 'din'), (30, 30, 34), rng,
              fill=0.95)
    if what == 'russia':
        fonts.fit(picture, (w - wide * 0.92, h * 0.68, wide * 0.5, h * 0.22), 'RUS', fonts.pick(rng, 'bold'), (30, 30, 34), rng)
        for i, colour in enumerate(((240, 240, 240), (30, 60, 160), (200, 40, 40))):
            y = round(h * (0.7 + 0.065 * i))
            cv2.rectangle(picture, (round(w - wide * 0.38), y), (round(w - wide * 0.1), y + max(1, round(h * 0.06))), colour,
                          -1)
    return wide


def bands(picture, rng, kind):
    """Draws the bands at the sides. Returns the area (x, y, w, h) that they leave."""
    h, w = picture.shape[:2]
    code, other = kind.options.get('band', ''), kind.options.get('band2', '')
    left = right = 0
    if code and not (code.endswith('?') and rng.random() < 0.6) and rng.random() < 0.93:
        left = left_band(picture, code.rstrip('?'), rng, kind.options.get('square'))
    if other and rng.random() < 0.93:
        right = right_band(picture, other, rng)
    edges = kind.options.get('edges')
    if edges:
        for y in (round(h * 0.05), round(h * 0.93)):
            cv2.rectangle(picture, (left, y), (w, y + max(1, h // 40)), edges, -1)
    if kind.options.get('square') and left:
        left = left * 0.6
    margin = 0.02 * w
    return left + margin, 0, w - left - right - 2 * margin, h


def ridge(rng, w, low, high, points):
    xs = numpy.linspace(0, w, points)
    return numpy.stack([xs, rng.uniform(low, high, points)], 1)


def hill(picture, rng, colour, low, high, points, smooth):
    """Land below a line that goes up and down between the rows low and high (parts of the height)."""
    h, w = picture.shape[:2]
    line = ridge(rng, w, low * h, high * h, points)
    if smooth:
        xs = numpy.arange(0, w + 4, 4)
        line = numpy.stack([xs, numpy.interp(xs, line[:, 0], line[:, 1]) + 0.02 * h * numpy.sin(xs / w * 9)], 1)
    shape = numpy.concatenate([line, [[w, h], [0, h]]]).astype(numpy.int32)
    layer = picture.copy()
    cv2.fillPoly(layer, [shape], colour, cv2.LINE_AA)
    picture[...] = picture * 0.25 + layer * 0.75


def picture_of(picture, what, rng):
    """The picture on the ground of a plate of a US state."""
    h, w = picture.shape[:2]
    if not what:
        return
    middle, tall = (round(w * rng.uniform(0.46, 0.54)), round(h * 0.52)), h * 0.24
    if what in ('hills', 'wave', 'topwave', 'skyline'):
        colour = {'hills': (120, 170, 130), 'wave': (150, 180, 214), 'topwave': (30, 70, 150), 'skyline': (150, 170, 190)}[what]
        hill(picture, rng, colour, 0.55, 0.85, 14 if what == 'skyline' else 6, what != 'skyline')
        if what == 'topwave':
            picture[...] = picture[::-1]
            picture[round(h * 0.3):] = WHITE
    elif what in ('mountain', 'desert'):
        hill(picture, rng, (216, 226, 222) if what == 'mountain' else (196, 120, 84), 0.3, 0.7, 9, False)
        hill(picture, rng, (90, 130, 120) if what == 'mountain' else (140, 70, 80), 0.65, 0.85, 7, False)
    elif what in ('orange', 'peach'):
        for dx in (-0.35, 0.35):
            at = round(middle[0] + dx * tall * 1.6), middle[1]
            cv2.circle(picture, at, round(tall * 0.6), (244, 150, 40) if what == 'orange' else (240, 150, 110), -1, cv2.LINE_AA)
        cv2.circle(picture, (middle[0], round(middle[1] - tall * 0.6)), round(tall * 0.3), (60, 140, 70), -1, cv2.LINE_AA)
    elif what in ('tree', 'palm'):
        colour = (90, 140, 100)
        for i in range(3):
            y = middle[1] - tall + i * tall * 0.6
            half = tall * (0.3 + 0.22 * i)
            cv2.fillPoly(picture, [numpy.int32([(middle[0], y), (middle[0] - half, y + tall * 0.8), (middle[0] + half,
                                                                                                     y + tall * 0.8)])], colour)
        cv2.rectangle(picture, (middle[0] - 3, middle[1]), (middle[0] + 3, round(middle[1] + tall * 1.4)), (110, 90, 70), -1)
    elif what == 'rainbow':
        for i, colour in enumerate(((230, 100, 100), (240, 190, 90), (120, 200, 120), (110, 160, 230), (180, 130, 210))):
            cv2.ellipse(picture, (w // 2, round(h * 1.05)), (round(w * (0.5 - 0.025 * i)), round(h * (0.8 - 0.05 * i))), 0, 180,
                        360, colour, max(2, h // 22), cv2.LINE_AA)
    elif what == 'star':
        angles = numpy.arange(10) * numpy.pi / 5 - numpy.pi / 2
        radii = numpy.where(numpy.arange(10) % 2, 0.4, 1) * h * 0.09
        at = numpy.stack([w * 0.9 + radii * numpy.cos(angles), h * 0.16 + radii * numpy.sin(angles)], 1)
        cv2.fillPoly(picture, [at.astype(numpy.int32)], (30, 40, 90), cv2.LINE_AA)


def tags(picture, rng):
    """Stickers of month and year in corners."""
    h, w = picture.shape[:2]
    for x in rng.permutation([0.03, 0.86])[:rng.integers(1, 3)]:
        y = 0.05 if rng.random() < 0.6 else 0.78
        colour = ((200, 50, 50), (240, 220, 60), (60, 130, 200), (60, 160, 90), (240, 140, 50))[rng.integers(5)]
        box = round(x * w), round(y * h), round(0.11 * w), round(0.16 * h)
        cv2.rectangle(picture, box[:2], (box[0] + box[2], box[1] + box[3]), colour, -1)
        fonts.fit(picture, box, str(rng.integers(10, 29)), fonts.pick(rng, 'bold'),
                  (20, 20, 20) if rng.random() < 0.5 else WHITE, rng, fill=0.5)


def outline(picture, colour, rng):
    h, w = picture.shape[:2]
    thick = max(1, round(h * rng.uniform(0.012, 0.035)))
    inset = round(h * rng.uniform(0.0, 0.03)) + thick // 2
    layer = rounded(h - 2 * inset, w - 2 * inset, h * 0.08)
    hole = rounded(h - 2 * inset - 2 * thick, w - 2 * inset - 2 * thick, h * 0.07)
    layer[thick:-thick, thick:-thick] -= hole
    fonts.ink(picture, numpy.clip(layer, 0, 255).astype(numpy.uint8), inset, inset, colour)


def rounded(h, w, radius):
    """A mask (float32, 0 to 255) of a rectangle with round corners."""
    mask = numpy.full((h, w), 255, numpy.float32)
    r = max(1, int(radius))
    ys, xs = numpy.mgrid[:r, :r] + 0.5
    corner = numpy.clip(r - numpy.hypot(r - ys, r - xs) + 0.5, 0, 1) * 255
    mask[:r, :r], mask[:r, -r:] = corner, corner[:, ::-1]
    mask[-r:, :r], mask[-r:, -r:] = corner[::-1], corner[::-1, ::-1]
    return mask


def screws(picture, rng):
    if rng.random() < 0.35:
        return
    h, w = picture.shape[:2]
    radius = max(1, round(h * rng.uniform(0.02, 0.05)))
    tone = float(rng.uniform(30, 220))
    y = (rng.uniform(0.08, 0.5),) if w > 3 * h else (rng.uniform(0.06, 0.12), rng.uniform(0.88, 0.94))
    for row in y:
        for part in (rng.uniform(0.04, 0.3),) * 2:
            for x in (part, 1 - part):
                at = round(x * w), round(row * h)
                cv2.circle(picture, at, radius, (tone,) * 3, -1, cv2.LINE_AA)
                cv2.circle(picture, at, radius, (tone * 0.5,) * 3, max(1, radius // 4), cv2.LINE_AA)


def age(picture, rng):
    """Dirt, worn paint, dents, fading."""
    h, w = picture.shape[:2]
    kind = rng.random()
    if kind < 0.3:  # mud, more of it below
        mud = numpy.clip(field(rng, h, w, 5) + field(rng, h, w, 16) * 0.6 - rng.uniform(0.0, 1.0)
                         + numpy.linspace(-0.4, 0.5, h, dtype=numpy.float32)[:, None], 0, 1)[..., None]
        colour = numpy.float32((110, 96, 80)) * rng.uniform(0.5, 1.3)
        picture += (colour - picture) * mud * rng.uniform(0.3, 0.85)
    elif kind < 0.42:  # dust over all
        picture += (numpy.float32((150, 140, 126)) - picture) * rng.uniform(0.1, 0.5)
    elif kind < 0.55:  # paint that came off in spots
        worn = (field(rng, h, w, 24) > rng.uniform(0.9, 1.4))[..., None]
        picture += (numpy.float32((190, 188, 180)) - picture) * worn * 0.7
    if rng.random() < 0.35:
        picture *= 1 + field(rng, h, w, 3)[..., None] * rng.uniform(0.05, 0.2)


def light(picture, rng):
    """Uneven light, and at times a bright reflection in a stripe."""
    h, w = picture.shape[:2]
    x, y = numpy.linspace(-1, 1, w, dtype=numpy.float32)[None], numpy.linspace(-1, 1, h, dtype=numpy.float32)[:, None]
    picture *= (1 + x * rng.normal(0, 0.08) + y * rng.normal(0, 0.1))[..., None]
    if rng.random() < 0.12:
        along = (x + y * rng.uniform(-0.5, 0.5) - rng.uniform(-0.8, 0.8)) / rng.uniform(0.1, 0.5)
        picture += (numpy.exp(-along * along) * rng.uniform(40, 200))[..., None]


def holder(picture, alpha, rng, kind, dealers):
    """The frame around the plate: none, thin plastic, with a dealer's text, or chrome. Returns picture and alpha, larger."""
    h, w = picture.shape[:2]
    if rng.random() < 0.3:
        return picture, alpha
    us = kind.name.startswith(('us', 'mx', 'br'))
    side = round(h * rng.uniform(0.015, 0.07))
    top, bottom = side, side
    if rng.random() < 0.5:
        bottom = round(h * rng.uniform(0.08, 0.2))
    if us and rng.random() < 0.4:
        top = round(h * rng.uniform(0.06, 0.13))
    over = round(h * rng.uniform(0, 0.03))
    tone = rng.choice([18, 30, 45, 150, 200, 225], p=[0.3, 0.3, 0.15, 0.1, 0.1, 0.05])
    out = numpy.empty((h + top + bottom, w + 2 * side, 3), numpy.float32)
    out[...] = numpy.linspace(1.2, 0.8, out.shape[0], dtype=numpy.float32)[:, None, None] * (tone + rng.normal(0, 3, 3))
    place = out[top:top + h, side:side + w]
    place += (picture - place) * (alpha[..., None] / 255)
    if over:  # the frame hides a little of the plate's edge
        for edge in (place[:over], place[-over:], place[:, :over], place[:, -over:]):
            edge[...] = tone
    colour = WHITE if tone < 120 else (20, 20, 30)
    colour = colour if rng.random() < 0.8 else (230, 190, 40)
    for y, tall in ((0, top), (top + h, bottom)):
        if tall > h * 0.06 and rng.random() < 0.85:
            text = dealers[rng.integers(len(dealers))]
            fonts.fit(out, (w * 0.12, y, w * 0.76, tall), text, fonts.pick(rng, ('narrow', 'bold', 'script')[rng.integers(3)]),
                      colour, rng, fill=0.55)
    return out, rounded(out.shape[0], out.shape[1], h * rng.uniform(0.02, 0.08))
