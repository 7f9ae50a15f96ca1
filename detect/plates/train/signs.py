# SPDX-License-Identifier: MIT
"""Draws what looks like text in streets and is no number plate: draw_sign(rng) gives RGBA."""

import cv2
import numpy

import decor
import fonts

WORDS = ('PARKING', 'TAXI', 'STOP', 'BAR', 'CAFE', 'HOTEL', 'PIZZA', 'BANK', 'OPEN', 'SALE', 'EXIT', 'BAKERY', 'FARMACIA',
         'PHARMACY', 'SUPERMARKT', 'POST',
         'METRO', 'POLICE', 'AMBULANCE', 'SCHOOL', 'MARKET', 'KEBAB', 'BOOKS', 'FLOWERS', 'RESTAURANT', 'BARBER', 'NON STOP',
         'EXCHANGE', 'GARAGE', 'TABAC',
         'OPTIK', 'APOTHEKE', 'LIBRARY', 'SUSHI', 'GYM', 'DENTIST', 'CINEMA', 'AUTO', 'SERVICE', 'CASINO', 'FASHION', 'MOBILE',
         'NO PARKING', 'FOR RENT')
STREETS = ('High Street', 'Hauptstrasse', 'Rue de la Paix', 'Via Roma', 'Calle Mayor', 'Main St', 'Park Ave', 'Strada Lunga',
           'Bahnhofstr.', '5th AVE',
           'BROADWAY', 'Kings Road', 'Lindenallee', 'Place Carnot', 'Elm St', 'Bd. Unirii', 'Oak Lane')
TOWNS = ('London', 'Bristol', 'Pitesti', 'Ploiesti', 'Lyon', 'Koeln', 'Bremen', 'Torino', 'Sevilla', 'Centre', 'Airport',
         'Dallas', 'Springfield', 'Praha')
MODELS = ('2.0 TDI', 'XDRIVE', 'GTI', '320d', 'QUATTRO', 'LOGAN', 'DUSTER', 'HYBRID', 'GOLF', 'CIVIC', 'C220 CDI', 'V6',
          'TURBO', 'OCTAVIA', 'TRANSIT', 'A4',
          'FOCUS', '4WD', 'i30', 'COROLLA', 'SPRINTER', 'XC60', '1.6 HDI', 'TSI', 'CLIO', 'EcoBlue')
BUMPER = ('BABY ON BOARD', 'I ♥ NY', 'HONK IF YOU...', 'MY OTHER CAR', 'STUDENT DRIVER', 'HOW IS MY DRIVING?', 'VOTE',
          'COEXIST', 'L', 'KEEP DISTANCE')
DARK = ((20, 20, 24), (24, 60, 140), (10, 96, 60), (150, 24, 30), (60, 40, 30), (90, 20, 90), (20, 80, 130))
LIGHT = ((240, 240, 238), (246, 206, 40), (230, 226, 200), (200, 210, 220), (250, 170, 60), (160, 210, 90))


def pick(rng, choice):
    return choice[int(rng.integers(len(choice)))]


def board(rng, h, ratio, ground):
    w = max(8, round(h * ratio))
    out = numpy.empty((h, w, 3), numpy.float32)
    out[...] = numpy.float32(ground) * numpy.linspace(rng.uniform(0.85, 1.1), rng.uniform(0.8, 1.05), h, dtype=numpy.float32)[:,
            None, None]
    return out


def pair(rng):
    """Colours of ground and letters that differ."""
    ground, letters = pick(rng, DARK), pick(rng, LIGHT)
    return (ground, letters) if rng.random() < 0.55 else (letters, ground)


def text_on(out, rng, text, colour, box=(0.05, 0.12, 0.9, 0.76), font='bold', align='centre', fill=0.9):
    h, w = out.shape[:2]
    place = box[0] * w, box[1] * h, box[2] * w, box[3] * h
    fonts.fit(out, place, text, fonts.pick(rng, font), colour, rng, weight=int(rng.integers(-2, 3)), fill=fill, align=align,
              space=rng.uniform(0.05, 0.2))


def phone(rng):
    return pick(rng, (f'0{rng.integers(200, 999)} {rng.integers(100, 999)} {rng.integers(100, 999)}',
                      f'{rng.integers(200, 999)}-{rng.integers(200, 999)}-{rng.integers(1000, 9999)}',
                      f'+{rng.integers(20, 99)} {rng.integers(100, 999)} {rng.integers(10, 99)} {rng.integers(10, 99)}'))


def shop(rng):
    ground, letters = pair(rng)
    text = pick(rng, WORDS) if rng.random() < 0.6 else pick(rng, WORDS).title() + ' ' + pick(rng, WORDS).title()
    out = board(rng, 70, rng.uniform(0.45, 0.8) * len(text) + 0.6, ground)
    text_on(out, rng, text, letters, (0.06, 0.2, 0.88, 0.6), pick(rng, ('bold', 'narrow', 'script', 'thin')))
    return out


def letters_only(rng):
    """Letters on a wall or a van without a board behind: the rest is transparent."""
    text = pick(rng, (pick(rng, WORDS), phone(rng), 'www.' + pick(rng, WORDS).lower().replace(' ', '') + '.com',
                      pick(rng, MODELS)))
    out = board(rng, 64, 0.5 * len(text) + 0.4, (0, 0, 0))
    mask = out * 0
    text_on(mask, rng, text, (255, 255, 255), (0.02, 0.15, 0.96, 0.65), pick(rng, ('bold', 'narrow', 'script', 'thin')))
    colour = numpy.float32(pick(rng, DARK + LIGHT))
    return numpy.dstack([out * 0 + colour, mask[..., 0]])


def street(rng):
    ground, letters = pick(rng, (((24, 60, 140), (240, 240, 240)), ((10, 96, 60), (240, 240, 240)), ((240, 240, 240),
            (20, 20, 20)), ((250, 248, 236), (30, 50, 120))))
    text = pick(rng, STREETS)
    out = board(rng, 64, len(text) * rng.uniform(0.42, 0.6) + 0.5, ground)
    if rng.random() < 0.6:
        decor.outline(out, letters, rng)
    text_on(out, rng, text, letters, (0.06, 0.2, 0.88, 0.58), pick(rng, ('narrow', 'thin', 'bold')))
    return out


def distances(rng):
    ground = pick(rng, ((24, 70, 160), (10, 100, 60), (240, 240, 240)))
    letters = (20, 20, 20) if ground[0] > 200 else (240, 240, 240)
    rows = int(rng.integers(1, 5))
    out = board(rng, 50 * rows + 16, rng.uniform(2.2, 4) / rows * 1.1, ground)
    decor.outline(out, letters, rng)
    for i in range(rows):
        y, tall = (i + 0.18) / rows, 0.62 / rows
        text_on(out, rng, pick(rng, TOWNS), letters, (0.06, y, 0.6, tall), 'narrow', 'left')
        text_on(out, rng, str(rng.integers(1, 400)) + pick(rng, ('', ' km', ' mi')), letters, (0.7, y, 0.25, tall), 'narrow',
                'right')
    return out


def route(rng):
    text = pick(rng, (f'A{rng.integers(1, 99)}', f'E {rng.integers(1, 99)}', f'M{rng.integers(1, 60)}',
                      f'B {rng.integers(1, 500)}', f'DN{rng.integers(1, 79)}', f'D {rng.integers(10, 999)}',
                      f'I-{rng.integers(5, 95)}'))
    ground, letters = pick(rng, (((24, 70, 160), (240, 240, 240)), ((10, 100, 60), (240, 240, 240)), ((250, 206, 40),
            (20, 20, 20)), ((200, 30, 40), (240, 240, 240)), ((240, 240, 240), (20, 20, 20))))
    out = board(rng, 60, 0.55 * len(text) + 0.5, ground)
    decor.outline(out, letters, rng)
    text_on(out, rng, text, letters, (0.1, 0.18, 0.8, 0.64), 'narrow')
    return out


def speed(rng):
    out = board(rng, 110, 1, (240, 240, 240))
    alpha = numpy.zeros((110, 110), numpy.float32)
    cv2.circle(alpha, (55, 55), 54, 255, -1, cv2.LINE_AA)
    cv2.circle(out, (55, 55), 48, (200, 30, 40), 13, cv2.LINE_AA)
    text_on(out, rng, str(rng.integers(2, 14) * 10), (20, 20, 20), (0.22, 0.3, 0.56, 0.4), 'narrow')
    return numpy.dstack([out, alpha])


def house(rng):
    ground, letters = pair(rng)
    text = str(rng.integers(1, 300)) + pick(rng, ('', '', 'A', 'bis'))
    out = board(rng, 64, 0.5 * len(text) + rng.uniform(0.4, 1), ground)
    if rng.random() < 0.5:
        decor.outline(out, letters, rng)
    text_on(out, rng, text, letters, (0.12, 0.18, 0.76, 0.64), pick(rng, ('bold', 'narrow', 'script')))
    return out


def lookalike(rng):
    """As wide and high as a plate, dark on white or yellow, but words, or only a few digits, or no letters at all."""
    ground = pick(rng, ((240, 240, 238), (240, 240, 238), (246, 206, 40), (200, 200, 200), (30, 30, 34)))
    letters = (20, 20, 24) if ground[0] > 100 else (230, 230, 230)
    out = board(rng, 80, rng.uniform(1.8, 5), ground)
    what = rng.integers(5)
    if what == 0:
        text_on(out, rng, pick(rng, WORDS), pick(rng, (letters, (180, 30, 40), (30, 60, 150))), (0.08, 0.2, 0.84, 0.6))
    elif what == 1:
        text_on(out, rng, pick(rng, WORDS), letters, (0.08, 0.12, 0.84, 0.36), 'narrow')
        text_on(out, rng, phone(rng), letters, (0.08, 0.56, 0.84, 0.3), 'narrow')
    elif what == 2:
        text_on(out, rng, pick(rng, MODELS), letters, (0.1, 0.25, 0.8, 0.5))
    elif what == 3:
        cv2.rectangle(out, (8, 8), (out.shape[1] - 8, 72), [float(v) for v in numpy.float32(ground) * 0.9], 2)
    else:
        for y in range(10, 70, 12):
            cv2.line(out, (10, y), (int(out.shape[1] * rng.uniform(0.6, 0.95)), y), letters, int(rng.integers(2, 6)))
    if rng.random() < 0.4:
        decor.outline(out, letters, rng)
    return out


def advert(rng):
    """A poster, a paper, a price tag: several lines of several sizes."""
    ground, letters = pair(rng)
    out = board(rng, 150, rng.uniform(0.6, 2.2), ground)
    if rng.random() < 0.5:
        x, y = int(rng.uniform(0, 0.6) * out.shape[1]), int(rng.uniform(0, 0.6) * 150)
        cv2.circle(out, (x, y), int(rng.integers(15, 60)), pick(rng, DARK + LIGHT), -1, cv2.LINE_AA)
    y = 0.06
    while y < 0.85:
        tall = rng.uniform(0.05, 0.25)
        text = pick(rng, WORDS + STREETS + TOWNS + (phone(rng), f'{rng.integers(1, 99)}.{rng.integers(10, 99)}',
                                                    f'-{rng.integers(1, 9)}0%', 'lorem ipsum dolor sit amet consectetur'))
        text_on(out, rng, text, letters, (0.06, y, 0.88, min(tall, 0.95 - y)), pick(rng, ('bold', 'narrow', 'thin', 'script')),
                pick(rng, ('left', 'centre')))
        y += tall * 1.3
    return out


def price(rng):
    out = board(rng, 70, rng.uniform(1.3, 2.6), pick(rng, ((250, 220, 40), (240, 240, 240), (220, 40, 40))))
    text_on(out, rng, f'{rng.integers(0, 99)}.{rng.integers(10, 99)}' + pick(rng, ('', ' €', ' $', ' lei')), (20, 20, 20),
            (0.08, 0.15, 0.84, 0.55))
    text_on(out, rng, pick(rng, WORDS), (20, 20, 20), (0.2, 0.78, 0.6, 0.16), 'thin')
    return out


def taxi(rng):
    out = board(rng, 50, rng.uniform(2.2, 4), pick(rng, ((250, 210, 50), (246, 246, 240), (30, 30, 30))))
    text_on(out, rng, pick(rng, ('TAXI', 'TAXI', 'CAB', 'TAXI 24h')), (20, 20, 20) if out.mean() > 100 else (250, 200, 40),
            (0.15, 0.2, 0.7, 0.6))
    return numpy.dstack([out, decor.rounded(out.shape[0], out.shape[1], 16)])


def badge(rng):
    """Chrome letters, as on the lid of a boot."""
    text = pick(rng, MODELS)
    out = board(rng, 50, 0.62 * len(text) + 0.3, (0, 0, 0))
    mask = out * 0
    text_on(mask, rng, text, (255, 255, 255), (0.03, 0.15, 0.94, 0.65), pick(rng, ('bold', 'thin', 'narrow')))
    tone = numpy.linspace(rng.uniform(180, 250), rng.uniform(90, 180), 50, dtype=numpy.float32)
    return numpy.dstack([numpy.repeat(tone[:, None], out.shape[1], 1)] * 3 + [mask[..., 0]])


def display(rng):
    """A bus line's number in points of light, or a screen with text."""
    text = pick(rng, (str(rng.integers(1, 400)), f'{rng.integers(1, 99)} {pick(rng, TOWNS)}', pick(rng, WORDS),
                      f'{rng.integers(0, 24):02d}:{rng.integers(0, 60):02d}', f'{rng.integers(-9, 35)}°C'))
    out = board(rng, 72, 0.55 * len(text) + 0.5, (14, 14, 16))
    text_on(out, rng, text, pick(rng, ((250, 180, 40), (250, 60, 40), (90, 250, 90), (240, 240, 250))), (0.06, 0.15, 0.88, 0.7),
            pick(rng, ('mono', 'narrow')))
    if rng.random() < 0.6:
        out[::4] *= 0.3
        out[:, ::4] *= 0.3
    return out


def stamp(rng):
    """What a camera writes into its picture. Drawn upright and sharp."""
    spans = (2010, 2027), (1, 13), (1, 29), (0, 24), (0, 60), (0, 60)
    year, month, day, hour, minute, second = (int(rng.integers(*span)) for span in spans)
    text = pick(rng, (f'{year}-{month:02d}-{day:02d} {hour:02d}:{minute:02d}:{second:02d} {rng.integers(0, 130)}km/h',
                      f'{day:02d}/{month:02d}/{year} {hour:02d}:{minute:02d}', f'CAM {rng.integers(1, 32)}',
                      f'{rng.integers(0, 120)} KM/H', 'REC'))
    out = board(rng, 40, 0.5 * len(text) + 0.4, (10, 10, 10))
    mask = out * 0
    text_on(mask, rng, text, (255, 255, 255), (0.01, 0.15, 0.98, 0.7), pick(rng, ('mono', 'narrow', 'thin')))
    colour = numpy.float32(pick(rng, ((250, 250, 250), (250, 230, 60), (90, 240, 90))))
    near = mask[..., 0] * 0 + 255 if rng.random() < 0.25 else cv2.dilate(mask[..., 0], numpy.ones((3, 3), numpy.uint8))
    return numpy.dstack([out + (colour - out) * (mask / 255), near])


def bumper(rng):
    ground, letters = pair(rng)
    text = pick(rng, BUMPER).replace('♥', '+')
    out = board(rng, 50, rng.uniform(2.4, 4.5), ground)
    text_on(out, rng, text, letters, (0.06, 0.2, 0.88, 0.6), pick(rng, ('bold', 'narrow', 'script')))
    return out


def empty_frame(rng):
    """A dealer's frame without a plate in it."""
    out = board(rng, 80, rng.uniform(1.9, 4.6), pick(rng, ((24, 24, 26), (60, 60, 64), (120, 124, 128))))
    decor.outline(out, pick(rng, ((10, 10, 10), (170, 170, 170))), rng)
    text_on(out, rng, pick(rng, WORDS), (220, 220, 220), (0.15, 0.84, 0.7, 0.12), 'narrow')
    decor.screws(out, rng)
    return out


MAKERS = ((shop, 2), (letters_only, 2), (street, 1.5), (distances, 1.5), (route, 1.2), (speed, 1), (house, 1), (lookalike, 3),
          (advert, 1.6), (price, 0.8), (taxi, 1),
          (badge, 1.2), (display, 1.2), (bumper, 1), (empty_frame, 1))


def draw_sign(rng):
    """One sign, RGBA uint8."""
    weights = numpy.array([m[1] for m in MAKERS], float)
    out = MAKERS[rng.choice(len(MAKERS), p=weights / weights.sum())][0](rng)
    return finished(out, rng)


def draw_on_car(rng):
    """What may be where a plate would be: an empty frame, a badge, a word."""
    return finished(pick(rng, (empty_frame, empty_frame, badge, letters_only, bumper))(rng), rng)


def draw_stamp(rng):
    """A burned-in line of a camera, RGBA uint8."""
    return finished(stamp(rng), rng, False)


def finished(out, rng, aged=True):
    if out.shape[2] == 3:
        alpha = decor.rounded(out.shape[0], out.shape[1], out.shape[0] * rng.uniform(0.01, 0.12))
        if aged and rng.random() < 0.3:
            decor.age(out, rng)
        if aged:
            decor.light(out, rng)
        out = numpy.dstack([out, alpha])
    return numpy.clip(out, 0, 255).astype(numpy.uint8)
