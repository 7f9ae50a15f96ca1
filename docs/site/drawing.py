# SPDX-License-Identifier: MIT
"""Draws what docs/gallery.md sends, with what draws pictures for the tests over HTTP (tests/http)."""

import numpy
from PIL import Image, ImageDraw, ImageFilter

import codes
import faces
import persons
import pictures
import writing

LETTER = ('Dear Ms Holloway', 'your account 4471 0927 is', 'overdue by 1289 pounds', 'Please call Peter Quill')
SIZE = (640, 400)


def plate(width, text):
    """A plate as in Europe, with a blue band."""
    height = width * 11 // 52
    made = Image.new('RGB', (width, height), (244, 244, 240))
    pen = ImageDraw.Draw(made)
    band = width // 12
    pen.rectangle((0, 0, band, height), fill=(10, 60, 160))
    ink = writing.word(text, height).resize((round((width - band) * 0.9), round(height * 0.95))).filter(ImageFilter.MaxFilter(3))
    made.paste(Image.new('RGB', ink.size, (15, 15, 18)), (band + (width - band) // 20, height // 50), ink)
    pen.rectangle((0, 0, width - 1, height - 1), outline=(20, 20, 20), width=2)
    return made


def street():
    """The back of a car, with a plate."""
    made = Image.new('RGB', SIZE, (176, 190, 200))
    pen = ImageDraw.Draw(made)
    pen.rectangle((0, 290, *SIZE), fill=(92, 92, 96))
    pen.rounded_rectangle((130, 80, 510, 250), 60, fill=(150, 28, 34))
    pen.rounded_rectangle((165, 100, 475, 190), 30, fill=(40, 52, 62))
    for left in (110, 450):
        pen.ellipse((left, 300, left + 80, 380), fill=(25, 25, 27))
    pen.rounded_rectangle((90, 175, 550, 335), 36, fill=(170, 34, 40))
    for left in (105, 450):
        pen.rounded_rectangle((left, 200, left + 85, 240), 14, fill=(220, 70, 60))
    pen.rectangle((90, 295, 550, 330), fill=(38, 38, 42))
    made.paste(plate(160, 'B DK 4471'), (240, 235))
    grain = numpy.random.default_rng(3).normal(0, 4, (SIZE[1], SIZE[0], 3))
    soft = numpy.asarray(made.filter(ImageFilter.GaussianBlur(0.7)))
    return Image.fromarray(numpy.clip(soft + grain, 0, 255).astype(numpy.uint8))


def specks(photo):
    """The photograph with pixels that a damaged sensor would leave."""
    samples = numpy.array(photo)
    draw = numpy.random.default_rng(4).random(samples.shape[:2])
    samples[draw < 0.02], samples[draw > 0.98] = 0, 255
    return Image.fromarray(samples)


def mask():
    """White where a filter acts: the lower half, with a soft edge."""
    rows = numpy.clip((numpy.arange(SIZE[1]) - 160) * 3, 0, 255)
    return pictures.png(numpy.repeat(rows[:, None, None], SIZE[0], 1).astype(numpy.uint8))


def page(*words):
    return writing.page(SIZE, words)[0]


def draw(folder):
    """Draws all but photo.jpg, which is there."""
    with Image.open(folder / 'photo.jpg') as photo:
        specks(photo.convert('RGB')).save(folder / 'specks.png')
    (folder / 'mask.png').write_bytes(mask())
    faces.composed((640, 400), ((10, 20, 150), (240, 40, 130), (440, 15, 160), (150, 215, 120), (370, 220, 115))).save(folder / 'faces.jpg', quality=92)
    persons.beside((640, 400), 120).save(folder / 'person.jpg', quality=92)
    page(*((40, 40 + 84 * i, line, 42) for i, line in enumerate(LETTER))).save(folder / 'letter.png')
    codes.page((codes.drawn(codes.QR, 8), (60, 80)), (codes.drawn([codes.LINEAR], 2, 60), (290, 100)), size=SIZE).save(folder / 'codes.png')
    street().save(folder / 'street.jpg', quality=92)
