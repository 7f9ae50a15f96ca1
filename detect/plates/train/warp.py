# SPDX-License-Identifier: MIT
"""Poses flat pictures in space, and blends them into a photograph."""

import cv2
import numpy


def pose(rng, w, h, height, yaw, pitch, roll, distance):
    """Four corners, around 0, of a w by h rectangle turned by these angles (degrees), seen from a distance (in widths of it). The
    mean height of its sides becomes height."""
    a, b, c = numpy.radians([yaw, pitch, roll])
    corners = numpy.float64([[-w, -h, 0], [w, -h, 0], [w, h, 0], [-w, h, 0]]) / 2
    turn_y = numpy.float64([[numpy.cos(a), 0, numpy.sin(a)], [0, 1, 0], [-numpy.sin(a), 0, numpy.cos(a)]])
    turn_x = numpy.float64([[1, 0, 0], [0, numpy.cos(b), -numpy.sin(b)], [0, numpy.sin(b), numpy.cos(b)]])
    turn_z = numpy.float64([[numpy.cos(c), -numpy.sin(c), 0], [numpy.sin(c), numpy.cos(c), 0], [0, 0, 1]])
    points = corners @ (turn_z @ turn_x @ turn_y).T
    far = distance * max(w, h)
    flat = points[:, :2] * (far / (far + points[:, 2:]))
    flat -= flat.mean(0)
    return flat * (height / sides(flat))


def random_pose(rng, w, h, height, strong=1.0, motorcycle=False):
    """Mostly gentle angles, at times up to 50 degrees of yaw, 25 of pitch and 20 of roll."""
    wide = strong * (1.0 if rng.random() < 0.3 else 0.45)
    yaw, pitch = rng.uniform(-50, 50) * wide, rng.uniform(-25, 25) * wide
    roll = numpy.clip(rng.normal(0, 4.5 * strong * (1.8 if motorcycle else 1)), -30, 30)
    return pose(rng, w, h, height, yaw, pitch, roll, rng.uniform(2.0, 8))


def sides(quad):
    """Mean length of the left and the right side."""
    return float((numpy.hypot(*(quad[3] - quad[0])) + numpy.hypot(*(quad[2] - quad[1]))) / 2)


def ends(quad):
    return float((numpy.hypot(*(quad[1] - quad[0])) + numpy.hypot(*(quad[2] - quad[3]))) / 2)


def bounds(quad, shape, margin=2):
    """Box of the quad within the picture: x0, y0, x1, y1."""
    low, high = numpy.floor(quad.min(0)).astype(int) - margin, numpy.ceil(quad.max(0)).astype(int) + margin
    return max(0, low[0]), max(0, low[1]), min(shape[1], high[0]), min(shape[0], high[1])


def shrunk(rgba, quad):
    """The picture made as small as the quad needs, so that nothing is skipped when it is warped."""
    h, w = rgba.shape[:2]
    # No more than about 1.3 pixels of the picture to a pixel of the quad.
    tall = max(2, min(h, round(max(numpy.hypot(*(quad[3] - quad[0])), numpy.hypot(*(quad[2] - quad[1]))) * 1.3)))
    wide = max(2, min(w, round(max(numpy.hypot(*(quad[1] - quad[0])), numpy.hypot(*(quad[2] - quad[3]))) * 1.3)))
    if (tall, wide) == (h, w):
        return rgba
    return cv2.resize(rgba, (wide, tall), interpolation=cv2.INTER_AREA)


def corners_of(w, h):
    return numpy.float32([[0, 0], [w, 0], [w, h], [0, h]])


def paste(picture, rgba, quad, gain=(1, 1, 1), lift=0.0, blur=0.0, opacity=1.0):
    """Blends an RGBA picture into the quad. gain multiplies its channels, lift is added."""
    x0, y0, x1, y1 = bounds(quad, picture.shape, 3)
    if x1 - x0 < 2 or y1 - y0 < 2:
        return
    small = shrunk(rgba, quad)
    part = small.astype(numpy.float32)
    part[..., :3] = numpy.clip(part[..., :3] * numpy.float32(gain) + lift, 0, 255)
    part[..., :3] *= part[..., 3:] / 255
    matrix = cv2.getPerspectiveTransform(corners_of(small.shape[1], small.shape[0]), (quad - (x0, y0)).astype(numpy.float32))
    layer = cv2.warpPerspective(part, matrix, (x1 - x0, y1 - y0), flags=cv2.INTER_LINEAR)
    if blur > 0.25:
        layer = cv2.GaussianBlur(layer, (0, 0), blur)
    place = picture[y0:y1, x0:x1]
    alpha = layer[..., 3:] * (opacity / 255)
    mixed = place * (1 - alpha) + layer[..., :3] * opacity
    picture[y0:y1, x0:x1] = numpy.clip(mixed + 0.5, 0, 255).astype(numpy.uint8)


def fill(mask, quad, value=1):
    cv2.fillConvexPoly(mask, numpy.round(quad).astype(numpy.int32), value)


def area(quad):
    x, y = quad[:, 0], quad[:, 1]
    return abs(float(numpy.dot(x, numpy.roll(y, -1)) - numpy.dot(y, numpy.roll(x, -1)))) / 2


def erase(picture, box):
    """Paints over a box from what is around it."""
    x, y, w, h = box
    dx, dy = round(w * 0.12) + 2, round(h * 0.25) + 2
    H, W = picture.shape[:2]
    x0, y0, x1, y1 = max(0, int(x - 2 * dx)), max(0, int(y - 2 * dy)), min(W, int(x + w + 2 * dx)), min(H, int(y + h + 2 * dy))
    if x1 - x0 < 6 or y1 - y0 < 6:
        return
    place = picture[y0:y1, x0:x1]
    hole = numpy.zeros(place.shape[:2], numpy.uint8)
    hole[max(0, int(y - dy - y0)):int(y + h + dy - y0), max(0, int(x - dx - x0)):int(x + w + dx - x0)] = 255
    scale = min(1, 28 / place.shape[0], 90 / place.shape[1])
    size = max(4, round(place.shape[1] * scale)), max(4, round(place.shape[0] * scale))
    small, small_hole = cv2.resize(place, size, interpolation=cv2.INTER_AREA), cv2.resize(hole, size,
                                                                                          interpolation=cv2.INTER_NEAREST)
    painted = cv2.inpaint(small, small_hole, 3, cv2.INPAINT_TELEA)
    painted = cv2.resize(painted, place.shape[1::-1], interpolation=cv2.INTER_CUBIC)
    alpha = cv2.GaussianBlur(hole, (0, 0), max(0.8, min(dx, dy) / 3)).astype(numpy.float32)[..., None] / 255
    place[...] = (place * (1 - alpha) + painted * alpha).astype(numpy.uint8)
