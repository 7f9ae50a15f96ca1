# SPDX-License-Identifier: MIT
"""What a camera, the light and the weather do to a whole picture. uint8 RGB in, uint8 RGB out."""

import cv2
import numpy

_NOISE = numpy.random.default_rng(7).normal(0, 40, (1024, 1024, 3)).astype(numpy.int16)


def table(picture, gains, gamma=1.0, lift=0.0):
    """Multiplies channels, with a gamma, by way of a table."""
    steps = numpy.arange(256, dtype=numpy.float32) / 255
    rows = [numpy.clip(255 * steps ** gamma * g + lift, 0, 255) for g in gains]
    return cv2.LUT(picture, numpy.stack(rows, 1)[None].astype(numpy.uint8))


def cast_removed(picture, rng):
    """Takes some of the colour cast away: many photographs at hand are pink."""
    means = picture[::8, ::8].reshape(-1, 3).mean(0) + 4
    gains = (means.mean() / means) ** rng.uniform(0.4, 1.0)
    return table(picture, numpy.clip(gains, 0.4, 2.2))


def noise(picture, rng):
    h, w = picture.shape[:2]
    y, x = int(rng.integers(0, max(1, 1024 - h))), int(rng.integers(0, max(1, 1024 - w)))
    part = _NOISE[y:y + h, x:x + w]
    if part.shape[:2] != (h, w):
        part = numpy.tile(_NOISE, (h // 1024 + 1, w // 1024 + 1, 1))[:h, :w]
    if rng.random() < 0.5:  # the same for all channels
        part = cv2.merge([part[..., 0]] * 3)
    if rng.random() < 0.4:
        part = cv2.blur(part, (2, 2)) * 2
    strength = rng.exponential(0.12) + 0.02
    return cv2.addWeighted(picture, 1, part, min(strength, 0.8), 0, dtype=cv2.CV_8U)


def motion(picture, rng, longest=None):
    length = longest or int(3 + rng.exponential(4))
    length = min(length, 19) | 1
    kernel = numpy.zeros((length, length), numpy.float32)
    angle = rng.normal(0, 0.5) if rng.random() < 0.7 else rng.uniform(0, numpy.pi)
    middle, dx, dy = length // 2, numpy.cos(angle) * length / 2, numpy.sin(angle) * length / 2
    cv2.line(kernel, (round(middle - dx), round(middle - dy)), (round(middle + dx), round(middle + dy)), 1, 1)
    return cv2.filter2D(picture, -1, kernel / kernel.sum())


def defocus(picture, rng):
    return cv2.GaussianBlur(picture, (0, 0), min(0.4 + rng.exponential(0.8), 3.5))


def glare(picture, at, radius, colour, strength):
    """A bloom of light, added."""
    h, w = picture.shape[:2]
    x0, y0, x1, y1 = max(0, int(at[0] - 2.5 * radius)), max(0, int(at[1] - 2.5 * radius)), min(w,
            int(at[0] + 2.5 * radius)), min(h, int(at[1] + 2.5 * radius))
    if x1 - x0 < 2 or y1 - y0 < 2:
        return
    xs, ys = (numpy.arange(x0, x1, dtype=numpy.float32) - at[0]) / radius, (numpy.arange(y0, y1,
                                                                                         dtype=numpy.float32) - at[1]) / radius
    blob = numpy.exp(-ys * ys)[:, None] * numpy.exp(-xs * xs)[None] * strength
    place = picture[y0:y1, x0:x1]
    place[...] = numpy.minimum(place + blob[..., None] * numpy.float32(colour), 255).astype(numpy.uint8)


def rain(picture, rng):
    """Drops on the lens, each a blurred disc, or streaks."""
    h, w = picture.shape[:2]
    if rng.random() < 0.5:
        layer = numpy.zeros((h, w), numpy.uint8)
        lean = rng.uniform(-6, 6)
        for _ in range(int(rng.integers(60, 300))):
            x, y, length = rng.integers(w), rng.integers(h), rng.uniform(6, 26)
            cv2.line(layer, (int(x), int(y)), (int(x + lean * length / 20), int(y + length)), int(rng.integers(30, 110)), 1)
        return cv2.add(picture, cv2.merge([cv2.blur(layer, (1, 3))] * 3))
    soft = cv2.resize(cv2.blur(cv2.resize(picture, (w // 4, h // 4), interpolation=cv2.INTER_AREA), (5, 5)), (w, h))
    mask = numpy.zeros((h, w), numpy.uint8)
    for _ in range(int(rng.integers(6, 50))):
        at, size = (int(rng.integers(w)), int(rng.integers(h))), int(rng.integers(3, max(5, h // 22)))
        cv2.ellipse(mask, at, (size, int(size * rng.uniform(0.8, 1.6))), 0, 0, 360, int(rng.integers(120, 255)), -1)
    mask = cv2.blur(mask, (3, 3)).astype(numpy.float32)[..., None] / 255
    return (picture + (soft * rng.uniform(0.8, 1.15) - picture) * mask).clip(0, 255).astype(numpy.uint8)


def jpeg(picture, rng):
    quality = int(30 + 65 * rng.random() ** 0.7)
    ok, data = cv2.imencode('.jpg', picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return cv2.imdecode(data, cv2.IMREAD_COLOR)


def coarse(picture, rng):
    """Made smaller and larger again."""
    h, w = picture.shape[:2]
    scale = rng.uniform(0.4, 0.85)
    ways = (cv2.INTER_AREA, cv2.INTER_LINEAR, cv2.INTER_NEAREST)
    small = cv2.resize(picture, (int(w * scale), int(h * scale)), interpolation=ways[rng.choice(3, p=(0.5, 0.4, 0.1))])
    return cv2.resize(small, (w, h), interpolation=(cv2.INTER_LINEAR, cv2.INTER_CUBIC)[rng.integers(2)])


def colours(picture, rng):
    """Warmth, contrast, exposure, grey."""
    warm, tint = rng.normal(0, 0.08), rng.normal(0, 0.04)
    gains = numpy.float32([1 + warm, 1 + tint, 1 - warm]) * rng.uniform(0.8, 1.2)
    picture = table(picture, gains, float(numpy.exp(rng.normal(0, 0.2))), rng.normal(0, 6))
    if rng.random() < 0.1:
        picture = cv2.cvtColor(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
    elif rng.random() < 0.15:
        grey = cv2.cvtColor(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
        picture = cv2.addWeighted(picture, rng.uniform(0.3, 1), grey, rng.uniform(0, 0.5), 0)
    return picture


def finish(picture, rng):
    """Most scenes get one or two of these, some none."""
    if rng.random() < 0.06:
        picture = rain(picture, rng)
    blurred = rng.random()
    if blurred < 0.14:
        picture = motion(picture, rng)
    elif blurred < 0.36:
        picture = defocus(picture, rng)
    if rng.random() < 0.7:
        picture = colours(picture, rng)
    if rng.random() < 0.55:
        picture = noise(picture, rng)
    if rng.random() < 0.2:
        picture = coarse(picture, rng)
    if rng.random() < 0.65:
        picture = jpeg(picture, rng)
    return picture
