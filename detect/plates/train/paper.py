# SPDX-License-Identifier: MIT
"""A sheet to draw pages on, and the words, numbers and codes that are written on them."""

import functools

import cv2
import numpy
from PIL import Image, ImageDraw, ImageFont

import fonts
import patterns

_SYLLABLES = ('an be co da el fi go ha in jo ka le mo na or pe qu ra se ti un ve wi xa yo za bra ter ing ment tion sch ver '
              'ble str pro con der den lich able and the for with not als que los las per una ist').split()
_RANDOM = numpy.random.default_rng(11)
_LATIN = [''.join(_SYLLABLES[i] for i in _RANDOM.integers(len(_SYLLABLES), size=_RANDOM.integers(1, 4))) for _ in range(500)]
_SCRIPTS = {'cyrillic': (0x430, 0x44f, 1, 10), 'cjk': (0x4e00, 0x8fff, 1, 6), 'hangul': (0xac00, 0xd2ff, 1, 5),
            'thai': (0xe01, 0xe2e, 2, 9)}
VOCABULARY = {name: [''.join(map(chr, _RANDOM.integers(low, high, _RANDOM.integers(least, most)))) for _ in range(200)]
              for name, (low, high, least, most) in _SCRIPTS.items()} | {'': _LATIN}
CODES = ('AA-9999', 'AAA 999', 'A99 AAA', '99-AA-99', 'AA 99 AAA', '9999 AAA', 'AA99 9AA', '9 999,99', '99:99', '99/99/9999', '99.99',
         '9999', 'A9', '999-999', 'AAAA9999', '99%', '#9999', '99,99 €', '$99.99', '(999) 999-9999', '9999 9999 9999',
         'AA99 9999 9999', '99.99.9999', 'AAA', '9-A', 'A 99', '99999', '99 km', 'No. 9999', 'A.9.9', '9x9', '+9.9%')
SHORT = CODES[8:]  # without those that are most like plates
INKS = ((20, 20, 24), (24, 60, 140), (10, 96, 60), (150, 24, 30), (200, 90, 20), (90, 20, 90), (20, 110, 130), (90, 90, 96))
TOKENS = ((200, 120, 220), (120, 180, 90), (90, 150, 230), (220, 150, 90), (130, 130, 136), (86, 182, 194))


def code(rng, template=None):
    """A number, a price, a date or a short code."""
    out = []
    for letter in template or CODES[rng.integers(len(CODES))]:
        out.append(chr(65 + int(26 * rng.random())) if letter == 'A' else str(int(10 * rng.random())) if letter == '9' else letter)
    return ''.join(out)


@functools.lru_cache(300)
def font(path, size):
    return ImageFont.truetype(path, size)


class Sheet:
    """Something to draw on. Sizes of letters count from unit, in pixels."""

    def __init__(self, rng, h, w, paper=None, dark=False, kind=None):
        self.rng, self.h, self.w, self.dark = rng, h, w, dark
        self.paper = paper or tuple(int(v) for v in numpy.clip(rng.normal(30 if dark else 244, 14) + rng.normal(0, 5, 3), 0, 255))
        self.ink = (225, 226, 228) if dark else (30, 30, 34)
        self.accent = INKS[rng.integers(len(INKS))] if not dark else TOKENS[rng.integers(len(TOKENS))]
        self.script = ('', 'cyrillic', 'cjk', 'hangul', 'thai')[rng.choice(5, p=(0.8, 0.07, 0.08, 0.03, 0.02))]
        self.unit = float(numpy.exp(rng.uniform(numpy.log(9), numpy.log(30))))
        self.image = Image.new('RGB', (w, h), self.paper)
        self.draw = ImageDraw.Draw(self.image)
        special = {'cyrillic': 'arabic', 'cjk': 'cjk', 'hangul': 'hangul', 'thai': 'thai'}.get(self.script)
        plain = fonts.pick(rng, kind or ('thin', 'bold', 'narrow', 'script')[rng.choice(4, p=(0.6, 0.2, 0.1, 0.1))])
        strong = fonts.pick(rng, ('bold', 'us', 'din')[rng.integers(3)])
        self.faces = {True: (plain, strong), False: (fonts.pick(rng, special),) * 2 if special else (plain, strong)}

    def face(self, text, size, strong):
        """Fonts of other scripts may lack the letters and digits of Latin."""
        return font(self.faces[text.isascii()][int(strong)], max(5, int(size)))

    def text(self, x, y, text, size=1.0, ink=None, strong=False, anchor='la', most=None):
        """Returns where the text ends. It is made smaller when it is wider than most."""
        face = self.face(text, size * self.unit, strong)
        if most and face.getlength(text) > most:
            face = self.face(text, size * self.unit * most / face.getlength(text), strong)
        if -400 < y < self.h + 400:
            self.draw.text((x, y), text, font=face, fill=ink or self.ink, anchor=anchor)
        return x + face.getlength(text)

    def box(self, x0, y0, x1, y1, fill=None, line=None, radius=0, wide=1):
        if x1 > x0 and y1 > y0:
            self.draw.rounded_rectangle((x0, y0, x1, y1), radius, fill, line, wide)

    def words(self, count):
        choice = VOCABULARY[self.script]
        return ' '.join(choice[i] for i in self.rng.integers(len(choice), size=max(1, int(count))))

    def title(self, count=2):
        text = self.words(count)
        return text.upper() if self.rng.random() < 0.5 else text.title()

    def paragraph(self, x, y, wide, rows, size=1.0, ink=None):
        """Rows of words, the last of them shorter. Returns the row below."""
        letters = wide / (size * self.unit * (0.9 if self.script in ('cjk', 'hangul') else 0.5))
        count = max(1, letters / 6)
        for i in range(rows):
            if y > self.h:
                break
            text = self.words(count + 2)[:max(1, int(letters * (1 if i < rows - 1 else self.rng.uniform(0.2, 0.9))))]
            self.text(x, y, text[:1].upper() + text[1:] if i == 0 else text, size, ink)
            y += size * self.unit * 1.4
        return y

    def photo(self, x, y, w, h):
        """A place with some colours, as of a photograph."""
        w, h = max(2, int(w)), max(2, int(h))
        part = numpy.stack([patterns.colour(self.rng) for _ in range(20)]).reshape(4, 5, 3).astype(numpy.uint8)
        if self.rng.random() < 0.3 and w > 40 and h > 40:
            part = patterns.draw(self.rng, min(h, 160), min(w, 160))
        self.image.paste(Image.fromarray(cv2.resize(part, (w, h), interpolation=cv2.INTER_LINEAR)), (int(x), int(y)))

    def stripes(self, x, y, w, h):
        """A barcode."""
        self.box(x, y, x + w, y + h, (255, 255, 255))
        at = x + 2
        while at < x + w - 3:
            bar = self.rng.uniform(0.006, 0.025) * w
            self.draw.rectangle((at, y + 2, at + bar, y + h - 2), (10, 10, 10))
            at += bar + self.rng.uniform(0.006, 0.03) * w + 1

    def shade(self, step):
        """Paper, a little darker or lighter."""
        return tuple(int(numpy.clip(v + (step if self.dark else -step), 0, 255)) for v in self.paper)
