# SPDX-License-Identifier: MIT
"""Draws the rear or the front of a car in a crude way, so that a drawn plate has something around it."""

import cv2
import numpy

import decor

PAINTS = ((20, 20, 22), (60, 62, 66), (120, 124, 130), (180, 182, 186), (225, 226, 226), (225, 226, 226), (140, 24, 28),
          (30, 50, 110), (20, 60, 50),
          (110, 90, 70), (200, 160, 40), (60, 100, 160), (90, 90, 94))


def rounded_box(picture, alpha, box, colour, radius):
    """A filled rectangle with round corners; box in pixels."""
    x0, y0, x1, y1 = (int(v) for v in box)
    if x1 - x0 < 4 or y1 - y0 < 4:
        return
    r = int(max(1, min(radius, (x1 - x0) // 2 - 1, (y1 - y0) // 2 - 1)))
    for target, value in ((picture, tuple(float(c) for c in colour)), (alpha, 255)):
        if target is not None:
            cv2.rectangle(target, (x0 + r, y0), (x1 - r, y1), value, -1)
            cv2.rectangle(target, (x0, y0 + r), (x1, y1 - r), value, -1)
            for at in ((x0 + r, y0 + r), (x1 - r, y0 + r), (x0 + r, y1 - r), (x1 - r, y1 - r)):
                cv2.circle(target, at, r, value, -1, cv2.LINE_AA)


def shape_of(rng, plate_w, plate_h):
    """Width of the body in plate widths, by the kind of plate."""
    ratio = plate_w / plate_h
    if ratio > 2.7:
        return rng.uniform(2.9, 3.9)
    if ratio > 1.55:
        return rng.uniform(4.2, 6.2)
    return rng.uniform(1.6, 4.5)


def window_and_roof(picture, alpha, rng, w, h, paint):
    """The glass above the body."""
    top, low, slope = h * 0.03, h * rng.uniform(0.34, 0.44), w * rng.uniform(0.06, 0.16)
    roof = numpy.int32([(slope, top), (w - slope, top), (w * 0.97, low + 2), (w * 0.03, low + 2)])
    glass = numpy.int32([(slope + w * 0.05, top + h * 0.05), (w - slope - w * 0.05, top + h * 0.05), (w * 0.9, low - h * 0.02),
                         (w * 0.1, low - h * 0.02)])
    cv2.fillPoly(picture, [roof], [float(c) * 0.95 for c in paint], cv2.LINE_AA)
    cv2.fillPoly(alpha, [roof], 255, cv2.LINE_AA)
    tone = rng.uniform(15, 90)
    cv2.fillPoly(picture, [glass], (tone, tone * 1.05, tone * 1.1), cv2.LINE_AA)
    return low


def lights(picture, rng, w, low, h, rear):
    tall, wide = h * rng.uniform(0.06, 0.2), w * rng.uniform(0.1, 0.22)
    y = low + h * rng.uniform(0.02, 0.12)
    if rear:
        colour = (rng.uniform(110, 255), rng.uniform(10, 60), rng.uniform(15, 60))
    else:
        colour = (rng.uniform(150, 255),) * 3
    for x in (w * 0.03, w * 0.97 - wide):
        rounded_box(picture, None, (x, y, x + wide, y + tall), colour, tall * 0.3)
        cv2.ellipse(picture, (int(x + wide * 0.5), int(y + tall * 0.5)), (int(wide * 0.25) + 1, int(tall * 0.3) + 1), 0, 0, 360,
                    [min(255.0, c * 1.3 + 20) for c in colour], -1)


def grille(picture, rng, w, y, h):
    half, tall = w * rng.uniform(0.12, 0.28), h * rng.uniform(0.06, 0.14)
    rounded_box(picture, None, (w / 2 - half, y, w / 2 + half, y + tall), (22, 22, 24), tall * 0.2)
    for i in range(int(rng.integers(2, 6))):
        at = int(y + tall * (i + 1) / 7)
        cv2.line(picture, (int(w / 2 - half), at), (int(w / 2 + half), at), (110, 112, 116), 1)


def lorry(picture, alpha, rng, w, h, paint):
    """Doors of a lorry or a van, and what is below them. Returns the rows between which a plate may be."""
    low = h * rng.uniform(0.7, 0.85)
    rounded_box(picture, alpha, (0, 0, w, low), paint, w * 0.01)
    for x in (0.03, 0.5, 0.97):
        cv2.line(picture, (int(w * x), int(h * 0.02)), (int(w * x), int(low)), [float(c) * 0.6 for c in paint],
                 max(1, w // 120))
    for x in (0.3, 0.42, 0.58, 0.7):
        cv2.line(picture, (int(w * x), int(h * 0.05)), (int(w * x), int(low * 0.97)), [float(c) * 0.8 for c in paint],
                 max(1, w // 160))
    rounded_box(picture, alpha, (w * 0.02, low, w * 0.98, h - 1), (34, 34, 36), w * 0.01)
    for x in (0.03, 0.83):
        rounded_box(picture, None, (w * x, low + (h - low) * 0.2, w * (x + 0.14), low + (h - low) * 0.6),
                    (rng.uniform(120, 230), 30, 30), 2)
    return low * 0.7, h


def motorcycle(picture, alpha, rng, w, h, paint):
    """Tyre, mudguard, tail and lamp."""
    rounded_box(picture, alpha, (w * 0.36, h * 0.3, w * 0.64, h - 1), (18, 18, 19), w * 0.12)
    rounded_box(picture, alpha, (w * 0.3, h * 0.02, w * 0.7, h * 0.3), paint, w * 0.1)
    rounded_box(picture, alpha, (w * 0.38, h * 0.2, w * 0.62, h * 0.32), (rng.uniform(130, 240), 30, 36), w * 0.03)
    for x in (0.08, 0.8):
        rounded_box(picture, alpha, (w * x, h * 0.22, w * (x + 0.12), h * 0.3), (230, 140, 40), w * 0.03)
        rounded_box(picture, alpha, (w * 0.15, h * 0.25, w * 0.85, h * 0.27), (40, 40, 42), 2)
    return h * 0.33, h * 0.75


def car(picture, alpha, rng, w, h, paint):
    """Body, glass, lights, bumper of a car. Returns the rows between which a plate may be."""
    for x in (0.06, 0.78):  # tyres
        rounded_box(picture, alpha, (w * x, h * 0.8, w * (x + 0.16), h - 1), (16, 16, 17), w * 0.02)
    low = window_and_roof(picture, alpha, rng, w, h, paint)
    rounded_box(picture, alpha, (w * 0.01, low - h * 0.03, w * 0.99, h * 0.93), paint, w * 0.06)
    rounded_box(picture, alpha, (w * 0.005, h * rng.uniform(0.84, 0.9), w * 0.995, h * 0.95), (28, 28, 30), w * 0.03)
    rear = rng.random() < 0.6
    lights(picture, rng, w, low, h, rear)
    if rear:
        cv2.circle(picture, (w // 2, int(low + h * 0.07)), max(1, int(w * 0.02)), (190, 192, 196), -1, cv2.LINE_AA)
    else:
        grille(picture, rng, w, low + h * 0.04, h)
    bumper = int(h * rng.uniform(0.66, 0.74))
    cv2.line(picture, (int(w * 0.02), bumper), (int(w * 0.98), bumper), [float(c) * 0.5 for c in paint], max(1, h // 120))
    cv2.line(picture, (int(w * 0.02), bumper + max(1, h // 120)), (int(w * 0.98), bumper + max(1, h // 120)),
             [min(255.0, float(c) * 1.3 + 12) for c in paint], 1)
    return low, h * 0.97


def draw(rng, plate_w, plate_h, scale):
    """The rear or front of a vehicle for a plate of this size in pixels of the scene, each drawn as scale pixels. Returns
    (RGBA uint8, plate's place in it (x, y, w, h))."""
    pw, ph = plate_w * scale, plate_h * scale
    kind = motorcycle if pw < 1.9 * ph and rng.random() < 0.6 else lorry if rng.random() < 0.15 else car
    w = pw * (rng.uniform(1.5, 2.6) if kind is motorcycle else shape_of(rng, plate_w, plate_h))
    h = w * (rng.uniform(1.3, 1.8) if kind is motorcycle else rng.uniform(0.6, 0.85))
    w, h = int(max(12, w)), int(max(12, h, ph * 3.2))
    picture, alpha = numpy.zeros((h, w, 3), numpy.float32), numpy.zeros((h, w), numpy.float32)
    paint = numpy.float32(PAINTS[rng.integers(len(PAINTS))]) * rng.uniform(0.7, 1.1) + rng.normal(0, 6, 3)
    top, end = kind(picture, alpha, rng, w, h, numpy.clip(paint, 8, 250))
    y = top + (end - top) * rng.uniform(0.28, 0.85) - ph / 2
    y = float(numpy.clip(y, top, max(top, end - ph)))
    if kind is car and rng.random() < 0.6:  # a recess for the plate
        dark = paint * rng.uniform(0.3, 0.85)
        rounded_box(picture, None, (w / 2 - pw * 0.62, y - ph * 0.3, w / 2 + pw * 0.62, y + ph * 1.3), dark, ph * 0.2)
    shade = 1 + decor.field(rng, h, w, 3) * 0.12 + numpy.linspace(0.2, -0.25, h, dtype=numpy.float32)[:, None]
    across = 1 - 0.3 * numpy.linspace(-1, 1, w, dtype=numpy.float32)[None] ** 4
    picture *= (shade * across)[..., None]
    aside = 0 if kind is motorcycle else rng.normal(0, 0.02) * w if rng.random() < 0.85 else rng.uniform(-0.2, 0.2) * w
    out = numpy.dstack([numpy.clip(picture, 0, 255), alpha]).astype(numpy.uint8)
    return out, ((w - pw) / 2 + aside, y, pw, ph)
