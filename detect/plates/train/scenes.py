# SPDX-License-Identifier: MIT
"""Makes training pictures: scene(rng, photo, marks, want) and negative(rng, photo, marks, want) give (picture RGB uint8,
mask of plates 0/1, mask of what to ignore 0/1). Everything comes from the generator passed in."""

import cv2
import numpy

import cars
import plates
import signs
import warp
import weather

LEAST = 8  # rows: a plate that is lower than this is ignored
FAINT = 14  # a plate with less difference than this between dark and bright is ignored
COVERED = 0.6  # a plate of which more is hidden is ignored


def height_of(rng, most):
    """Rows of a plate: log-uniform, mostly 10 to 60."""
    low, high = ((10, 60), (60, 220), (6, 10), (8, 24))[rng.choice(4, p=(0.6, 0.13, 0.05, 0.22))]
    return min(float(numpy.exp(rng.uniform(numpy.log(low), numpy.log(high)))), most)


def crop(rng, photo, marks, want, wish_mark=True):
    """Cuts a part of the photograph and scales it. Returns (picture, marks in it, scale)."""
    H, W = want
    h, w = photo.shape[:2]
    cover = max(H / h, W / w)
    if marks and wish_mark:
        mark = marks[rng.integers(len(marks))]
        scale = height_of(rng, 0.35 * H) / max(4, mark[3])
        middle = numpy.float64((mark[0] + mark[2] / 2, mark[1] + mark[3] / 2))
        shift = rng.uniform(-0.42, 0.42, 2)
    else:
        mark, middle, shift = None, numpy.float64((rng.uniform(0, w), rng.uniform(0, h))), numpy.zeros(2)
        scale = cover * float(numpy.exp(rng.uniform(-0.1, 0.9)))
    scale = float(numpy.clip(scale, cover * (1 if rng.random() < 0.72 else 0.4), max(cover, 4.0)))
    if scale < cover * 0.95 and h * w < 3e6 and rng.random() < 0.7:  # four of it, side by side
        photo = numpy.tile(photo, (2, 2, 1))
        marks = [(x + dx, y + dy, a, b) for x, y, a, b in marks for dx in (0, w) for dy in (0, h)]
        h, w = photo.shape[:2]
    part = numpy.float64((W, H)) / scale
    corner = middle - part * (0.5 + shift)
    limit = numpy.float64((w, h)) - part
    corner = numpy.where(limit > 0, numpy.clip(corner, 0, numpy.maximum(limit, 0)), limit * rng.uniform(0, 1, 2))
    matrix = numpy.float64([[scale, 0, -corner[0] * scale], [0, scale, -corner[1] * scale]])
    x0, y0 = max(0, int(corner[0]) - 2), max(0, int(corner[1]) - 2)
    x1, y1 = min(w, int(corner[0] + part[0]) + 3), min(h, int(corner[1] + part[1]) + 3)
    piece = photo[y0:y1, x0:x1]
    fill = tuple(int(v) for v in rng.integers(0, 140, 1).repeat(3))
    if scale < 0.75:  # first made smaller by areas, then put in place
        small = cv2.resize(piece, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        ratio = small.shape[1] / piece.shape[1], small.shape[0] / piece.shape[0]
        matrix = numpy.float64([[scale / ratio[0], 0, matrix[0, 2] + scale * x0], [0, scale / ratio[1],
                                                                                   matrix[1, 2] + scale * y0]])
        piece = small
    else:
        matrix[:, 2] += scale * numpy.float64((x0, y0))
    picture = cv2.warpAffine(piece, matrix, (W, H), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=fill)
    moved = [((x - corner[0]) * scale, (y - corner[1]) * scale, mw * scale, mh * scale) for x, y, mw, mh in marks]
    inside = [m for m in moved if m[0] + m[2] > 0 and m[1] + m[3] > 0 and m[0] < W and m[1] < H]
    return picture, inside, scale


class Canvas:
    """A scene while it is made."""

    def __init__(self, rng, picture, scale):
        self.rng, self.picture, self.scale = rng, picture, scale
        h, w = picture.shape[:2]
        self.mask, self.ignore = numpy.zeros((h, w), numpy.uint8), numpy.zeros((h, w), numpy.uint8)
        self.taken = numpy.zeros((h, w), numpy.uint8)  # where nothing more may be put
        self.quads = []  # (quad, covered mask or None)
        grey = cv2.cvtColor(picture[::8, ::8], cv2.COLOR_RGB2GRAY)
        self.bright = float(numpy.percentile(grey, 92))
        self.night = self.bright < 75
        self.soft = max(0.0, 0.3 * (scale - 1)) if rng.random() < 0.6 else 0.0  # as blurred as the enlarged photograph
        edges = cv2.absdiff(grey, cv2.blur(grey, (5, 5))).astype(numpy.float32)
        self.texture, self.level = cv2.blur(edges, (7, 7)), cv2.blur(grey, (7, 7)).astype(numpy.float32)

    def free(self, quad, margin=0):
        x0, y0, x1, y1 = warp.bounds(quad, self.picture.shape, margin)
        return x1 > x0 and y1 > y0 and not self.taken[y0:y1, x0:x1].any()

    def gain(self, quad, bright=None):
        """Brightness and colour cast for something pasted here: from the place, and from the whole picture."""
        rng = self.rng
        x0, y0, x1, y1 = warp.bounds(quad, self.picture.shape, 6)
        near = self.picture[y0:y1:2, x0:x1:2].reshape(-1, 3).astype(numpy.float32)
        mean = near.mean(0) + 3
        cast = (mean / mean.mean()) ** rng.uniform(0.2, 0.8)
        light = (0.6 * self.bright + 0.6 * mean.mean()) / 200
        light = float(numpy.clip(light * numpy.exp(rng.normal(0, 0.25)), 0.12, 1.25))
        if bright is not None:
            light = bright
        elif self.night:
            light = rng.uniform(0.8, 1.7) if rng.random() < 0.35 else rng.uniform(0.06, 0.3) if rng.random() < 0.4 else light
        x0, y0, x1, y1 = warp.bounds(quad, self.picture.shape, 6 + int(2 * warp.sides(quad)))
        dark = numpy.percentile(self.picture[y0:y1:4, x0:x1:4].reshape(-1, 3), 3, axis=0)  # haze and glare lift what is black
        lift = numpy.minimum(dark, 110) * rng.uniform(0.2, 0.9) + rng.uniform(-4, 8) * min(1, light)
        return numpy.clip(cast, 0.45, 2) * max(light - 0.7 * lift.mean() / 255, 0.05), numpy.float32(lift)

    def place(self, tries, width, height, high=0.1):
        """A centre: of some random ones the darkest, smoothest and greyest, rather in the lower half and not above the part
        high of the picture."""
        rng, (h, w) = self.rng, self.picture.shape[:2]
        best, found = None, -1e9
        for _ in range(tries):
            inset = min(0.5 * width / w, 0.5) * (rng.random() ** 0.4) if w > width else 0.3
            x, y = rng.uniform(inset - 0.02, 1.02 - inset) * w, (h - 0.4 * height) * (1 - rng.random() ** 1.3 * (1 - high))
            r, c = int(numpy.clip(y / 8, 0, self.level.shape[0] - 1)), int(numpy.clip(x / 8, 0, self.level.shape[1] - 1))
            score = -self.texture[r, c] / 12 - abs(self.level[r, c] - 60) / 90 + rng.normal(0, 0.3)
            box = numpy.float64([[x - width / 2, y - height / 2], [x + width / 2, y + height / 2]])
            if score > found and self.free(box):
                best, found = (x, y), score
        return best

    def add_plate(self, rgba, quad, bright=None):
        rng = self.rng
        gain, lift = self.gain(quad, bright)
        warp.paste(self.picture, rgba, quad, gain, lift, self.soft + rng.exponential(0.3), 1.0)
        self.keep(quad)
        if rng.random() < 0.1:
            shadow(rng, self.picture, quad)
        if rng.random() < 0.14:
            self.cover(quad)

    def keep(self, quad):
        """Notes a plate: its quad, and that its place is taken."""
        self.quads.append([quad, None])
        x0, y0, x1, y1 = warp.bounds(quad, self.picture.shape, 3)
        self.taken[y0:y1, x0:x1] = 1

    def cover(self, quad):
        """Puts something over a part of the plate."""
        rng = self.rng
        hidden = numpy.zeros(self.mask.shape, numpy.uint8)
        tall, wide = warp.sides(quad), warp.ends(quad)
        at = quad.mean(0) + rng.uniform(-0.5, 0.5, 2) * (wide, tall)
        what = rng.integers(4)
        if what == 0:  # a tow ball on its bar
            at = numpy.float64((quad[:, 0].mean() + rng.normal(0, 0.08) * wide, quad[:, 1].max() - tall * rng.uniform(0, 0.4)))
            r = tall * rng.uniform(0.12, 0.25)
            cv2.circle(hidden, [int(v) for v in at], max(1, int(r)), 1, -1)
            cv2.rectangle(hidden, (int(at[0] - r * 0.6), int(at[1])), (int(at[0] + r * 0.6), int(at[1] + tall)), 1, -1)
        elif what == 1:  # a bar or a pole
            angle, thick = rng.uniform(0, numpy.pi), max(1, int(tall * rng.uniform(0.08, 0.5)))
            far = numpy.float64((numpy.cos(angle), numpy.sin(angle))) * wide * rng.uniform(0.6, 1.5)
            cv2.line(hidden, [int(v) for v in at - far], [int(v) for v in at + far], 1, thick)
        else:  # another thing in front, from one side
            side = rng.choice([-1, 1])
            edge = quad[:, 0].mean() - side * wide * rng.uniform(-0.45, 0.45)
            up, down, out = tall * rng.uniform(0.2, 2.5, 3)
            turn = rng.normal(0, 0.4, 3) * tall
            low, high = quad[:, 1].max() + down, quad[:, 1].min() - up
            far = edge + side * (out + wide * rng.uniform(0.5, 1))
            points = numpy.float64([(edge + turn[0], high), (far, high + turn[1]), (far, low + turn[2]), (edge - turn[0], low)])
            if rng.random() < 0.4:
                middle, half = (points[0] + points[2]) / 2, numpy.abs(points[2] - points[0]) / 2
                cv2.ellipse(hidden, [int(v) for v in middle], [int(v) + 1 for v in half], float(turn[0]), 0, 360, 1, -1)
            else:
                warp.fill(hidden, points)
        ys, xs = numpy.flatnonzero(hidden.any(1)), numpy.flatnonzero(hidden.any(0))
        if not ys.size:
            return
        y0, y1, x0, x1 = max(0, ys[0] - 3), ys[-1] + 4, max(0, xs[0] - 3), xs[-1] + 4
        y1, x1 = min(y1, hidden.shape[0]), min(x1, hidden.shape[1])
        part = self.picture[y0:y1, x0:x1]
        soft = cv2.GaussianBlur(hidden[y0:y1, x0:x1].astype(numpy.float32), (0, 0), 0.6 + self.soft)[..., None]
        part[...] = numpy.clip(part * (1 - soft) + self.stuff(y1 - y0, x1 - x0) * soft, 0, 255).astype(numpy.uint8)
        for noted in self.quads:  # it may lie over others as well
            noted[1] = hidden if noted[1] is None else noted[1] | hidden

    def stuff(self, h, w):
        """What a thing in front is made of: one colour with a gradient, or a piece of the picture from elsewhere."""
        rng, (H, W) = self.rng, self.picture.shape[:2]
        if rng.random() < 0.5 and h < H // 2 and w < W // 2:
            y, x = int(rng.integers(H - h)), int(rng.integers(W - w))
            return self.picture[y:y + h, x:x + w].astype(numpy.float32) * rng.uniform(0.6, 1.3)
        tone = rng.choice([15, 40, 90, 160, 210]) * rng.uniform(0.7, 1.2) * min(1, self.bright / 200) + rng.normal(0, 8, 3)
        return numpy.float32(tone) * numpy.linspace(0.8, 1.2, w, dtype=numpy.float32)[None, :, None]

    def masks(self, picture):
        """Fills mask and ignore from the plates noted. picture: the scene as it became."""
        grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
        for quad, hidden in self.quads:
            x0, y0, x1, y1 = warp.bounds(quad, self.mask.shape, 1)
            if x1 <= x0 or y1 <= y0:
                continue
            own = numpy.zeros((y1 - y0, x1 - x0), numpy.uint8)
            warp.fill(own, quad - (x0, y0))
            shown = own if hidden is None else own & (1 - hidden[y0:y1, x0:x1])
            small = min(warp.sides(quad), warp.ends(quad)) < LEAST
            bad = small or shown.sum() < (1 - COVERED) * warp.area(quad)
            if not bad:  # too dark, or too bright, to tell anything
                values = grey[y0:y1, x0:x1][shown > 0]
                bad = float(numpy.percentile(values, 96)) - float(numpy.percentile(values, 4)) < FAINT
            target = self.ignore if bad else self.mask
            target[y0:y1, x0:x1] |= own
        self.ignore &= 1 - self.mask
        return self.mask, self.ignore


def shadow(rng, picture, quad):
    """A straight edge of shade over a plate and what is around it."""
    x0, y0, x1, y1 = warp.bounds(quad, picture.shape, int(warp.sides(quad) * 2))
    if x1 - x0 < 3 or y1 - y0 < 3:
        return
    middle, angle = quad.mean(0), rng.uniform(0, 2 * numpy.pi)
    xs, ys = numpy.arange(x0, x1) - middle[0], numpy.arange(y0, y1) - middle[1]
    side = xs[None] * numpy.cos(angle) + ys[:, None] * numpy.sin(angle) + rng.normal(0, 0.3) * warp.sides(quad)
    shade = rng.uniform(0.3, 0.7) / (1 + numpy.exp(numpy.clip(-side / rng.uniform(0.5, 3), -30, 30)))
    fade_x = numpy.clip(2.6 - 2.6 * numpy.abs(numpy.linspace(-1, 1, x1 - x0)), 0, 1)
    fade_y = numpy.clip(2.2 - 2.2 * numpy.abs(numpy.linspace(-1, 1, y1 - y0)), 0, 1)
    dark = 1 - shade * fade_y[:, None] * fade_x[None]
    picture[y0:y1, x0:x1] = (picture[y0:y1, x0:x1] * dark[..., None]).astype(numpy.uint8)


def replace(canvas, mark, rng):
    """A drawn plate instead of a real one."""
    x, y, w, h = mark
    warp.erase(canvas.picture, mark)
    rgba, name = plates.draw(rng, min(160, max(48, h * 1.4)))
    ph, pw = rgba.shape[:2]
    height = numpy.sqrt(w * h * ph / pw) * rng.uniform(0.95, 1.2)
    turned = numpy.degrees(numpy.arccos(numpy.clip(w / h / 4.6, 0.6, 1))) * rng.uniform(0.4, 1) * rng.choice([-1, 1])
    quad = warp.pose(rng, pw, ph, height, turned + rng.normal(0, 8), rng.normal(0, 7), rng.normal(0, 3), rng.uniform(3, 8))
    canvas.add_plate(rgba, quad + (x + w / 2, y + h / 2))


def place_plate(canvas, rng):
    """A drawn plate at a place of its own, at times on a drawn car."""
    most = 0.4 * canvas.picture.shape[0]
    height = height_of(rng, most)
    with_car = height < 90 and rng.random() < 0.5
    rgba, name = plates.draw(rng, min(160, max(48, height * 1.4)))
    ph, pw = rgba.shape[:2]
    if pw < 2.6 * ph:  # nearly square ones are higher, not wider
        height = min(height * 1.4, most)
    gentle = 0.55 if with_car else 1.0
    quad = warp.random_pose(rng, pw, ph, height, gentle, pw < 1.9 * ph)
    spread = (2.6, 4) if with_car else (1.1, 1.3)
    at = canvas.place(7, height * pw / ph * spread[0], height * spread[1], 0.45 if with_car and rng.random() < 0.85 else 0.1)
    if at is None:
        return
    quad = quad + at
    bright = None
    if with_car:
        bright = put_car(canvas, quad, height * pw / ph, height, rng)
        if bright is None:
            return
        bright = None if canvas.night else bright * rng.uniform(0.75, 1.25)
    canvas.add_plate(rgba, quad, bright)


def put_car(canvas, quad, wide, height, rng):
    """Draws a car around a quad. Returns the brightness that it got, or None where there is no room."""
    scale = min(1.0, 420 / (wide * 3.5)) * (1.3 if height < 20 else 1)
    car, spot = cars.draw(rng, wide, height, scale)
    x, y, w, h = spot
    flat = numpy.float32([[x, y], [x + w, y], [x + w, y + h], [x, y + h]])
    matrix = cv2.getPerspectiveTransform(flat, quad.astype(numpy.float32))
    outer = cv2.perspectiveTransform(warp.corners_of(car.shape[1], car.shape[0])[None], matrix)[0].astype(numpy.float64)
    convex = cv2.isContourConvex(outer.astype(numpy.float32)[:, None])
    if not convex or not canvas.free(outer) or warp.area(outer) > 9 * canvas.mask.size:
        return None
    gain, lift = canvas.gain(outer)
    warp.paste(canvas.picture, car, outer, gain * 0.9, lift, canvas.soft + rng.exponential(0.4))
    return float(numpy.mean(gain))


def place_bare_car(canvas, rng):
    """A drawn car without a plate; some have a sign or an empty frame there."""
    height, ratio = height_of(rng, 60), rng.choice([1.3, 2.0, 4.6])
    quad = warp.random_pose(rng, height * ratio, height, height, 0.55)
    at = canvas.place(5, height * ratio * 3, height * 4, 0.45)
    if at is None:
        return
    quad = quad + at
    bright = put_car(canvas, quad, height * ratio, height, rng)
    if bright is not None and rng.random() < 0.6:
        rgba = signs.draw_on_car(rng)
        warp.paste(canvas.picture, rgba, quad, (bright,) * 3, 0, canvas.soft + rng.exponential(0.3))


def place_sign(canvas, rng):
    h, w = canvas.picture.shape[:2]
    rgba = signs.draw_sign(rng)
    height = min(float(numpy.exp(rng.uniform(numpy.log(8), numpy.log(110)))), 0.7 * w * rgba.shape[0] / rgba.shape[1])
    quad = warp.random_pose(rng, rgba.shape[1], rgba.shape[0], height, 0.8)
    for _ in range(4):
        moved = quad + (rng.uniform(0, w), rng.uniform(0, h))
        if canvas.free(moved, 2):
            gain, lift = canvas.gain(moved)
            warp.paste(canvas.picture, rgba, moved, gain, lift, canvas.soft + rng.exponential(0.4), 1 - 0.3 * rng.random() ** 3)
            return


def written(canvas, rng):
    """A line of a camera's own text, near the upper or the lower edge."""
    h, w = canvas.picture.shape[:2]
    rgba = signs.draw_stamp(rng)
    height = min(rng.uniform(10, 32), w * 0.95 * rgba.shape[0] / rgba.shape[1])
    wide = height * rgba.shape[1] / rgba.shape[0]
    x, y = rng.uniform(0, w - wide), rng.uniform(2, 30) if rng.random() < 0.5 else h - height - rng.uniform(2, 30)
    quad = numpy.float64([[x, y], [x + wide, y], [x + wide, y + height], [x, y + height]])
    if canvas.free(quad):
        warp.paste(canvas.picture, rgba, quad)


def start(rng, photo, marks, want, wish_mark=True):
    """The photograph's part, with its colours and light changed."""
    flip = rng.random() < 0.4
    if flip:
        photo = photo[:, ::-1]
        marks = [(photo.shape[1] - x - w, y, w, h) for x, y, w, h in marks]
    picture, inside, scale = crop(rng, photo, marks, want, wish_mark)
    picture = numpy.ascontiguousarray(picture)
    if rng.random() < 0.78:
        picture = weather.cast_removed(picture, rng)
        if rng.random() < 0.1:  # other colours than the photographs at hand have
            picture = numpy.ascontiguousarray(picture[..., rng.permutation(3)])
    bright = float(numpy.percentile(picture[::8, ::8], 92)) + 1
    if bright < 130 and rng.random() < 0.45:  # many of the photographs are of dusk
        picture = weather.table(picture, (min(4, rng.uniform(120, 240) / bright),) * 3, rng.uniform(0.8, 1.1))
    if rng.random() < 0.12:
        picture = weather.table(picture, (1, 1, rng.uniform(0.8, 1.3)), 1.2, 0)
        picture = weather.table(picture, (rng.uniform(0.15, 0.5),) * 3)
    return Canvas(rng, picture, scale), inside, flip


def lights(canvas, rng):
    """Blooms of headlights and lamps, often beside a plate."""
    often = 0.5 if canvas.night else 0.08
    for quad, _ in list(canvas.quads):
        if rng.random() < often:
            wide = warp.ends(quad)
            at = quad.mean(0) + (rng.choice([-1, 1]) * wide * rng.uniform(0.7, 2), rng.normal(-0.4, 0.5) * warp.sides(quad))
            colour = ((1, 1, 0.9), (1, 0.25, 0.2), (0.9, 0.95, 1))[rng.integers(3)]
            weather.glare(canvas.picture, at, max(3, wide * rng.uniform(0.15, 0.7)), colour, rng.uniform(60, 300))


def scene(rng, photo, marks, want):
    """A training picture of size want = (rows, columns) from a photograph (RGB) and its real plates' boxes (x, y, w, h)."""
    marks = [tuple(float(v) for v in m) for m in marks]
    canvas, inside, flip = start(rng, photo, marks, want, rng.random() < 0.8)
    for mark in inside:
        x, y, w, h = mark
        what = rng.random()
        box = numpy.float64([[x, y], [x + w, y], [x + w, y + h], [x, y + h]])
        if h < 6 or what < (0.1 if flip else 0.42):
            canvas.keep(box)
        elif what < 0.93:
            replace(canvas, mark, rng)
        else:
            warp.erase(canvas.picture, mark)
    more = int(rng.choice(5, p=(0.2, 0.33, 0.25, 0.14, 0.08))) if canvas.quads else int(rng.integers(1, 5))
    for _ in range(more):
        place_plate(canvas, rng)
    for _ in range(int(rng.choice(6, p=(0.2, 0.2, 0.2, 0.2, 0.1, 0.1)))):
        place_sign(canvas, rng)
    if rng.random() < 0.12:
        place_bare_car(canvas, rng)
    lights(canvas, rng)
    if rng.random() < 0.12:
        written(canvas, rng)
    picture = weather.finish(canvas.picture, rng)
    mask, ignore = canvas.masks(picture)
    return picture, mask, ignore


def negative(rng, photo, marks, want):
    """A picture without plates: real ones are painted over, and signs are put in."""
    marks = [tuple(float(v) for v in m) for m in marks]
    canvas, inside, _ = start(rng, photo, marks, want, rng.random() < 0.3)
    for mark in inside:
        warp.erase(canvas.picture, mark)
        if rng.random() < 0.3:
            x, y, w, h = mark
            quad = warp.corners_of(w, h).astype(numpy.float64) + (x, y)
            gain, lift = canvas.gain(quad)
            warp.paste(canvas.picture, signs.draw_on_car(rng), quad, gain, lift, canvas.soft + rng.exponential(0.4))
    for _ in range(int(rng.integers(0, 3))):
        place_bare_car(canvas, rng)
    for _ in range(int(rng.integers(0, 11))):
        place_sign(canvas, rng)
    if rng.random() < 0.25:
        written(canvas, rng)
    return weather.finish(canvas.picture, rng), canvas.mask, canvas.ignore
