# SPDX-License-Identifier: MIT
"""What of the words of screenshots is covered by boxes."""

import collections
import re

import numpy

COVERED = 0.98  # of a word's ink
DARK = 96       # mean of the ground below it, of 255
SECRET = re.compile(r'\d|@|^\W*[A-ZÄÖÜ]\w')
FONTS = 'font to 10 px', 'font 11 to 13 px', 'font 14 to 18 px', 'larger font'
ALL, DARK_GROUND, LIGHT_GROUND, CODE = 'all words', 'dark ground', 'light ground', 'code'
CUT, SINGLE = 'cut by the edge of the picture', 'single letters and digits'
SECRETS, DISTINCT = 'secrets, all places', 'secrets, distinct on a picture'
ROWS = ALL, *FONTS, DARK_GROUND, LIGHT_GROUND, CODE, CUT, SINGLE, SECRETS, DISTINCT
APART = ('less than half of the height in the picture', 'signs only')


def window(word, shape):
    """The pixels of a word."""
    top, bottom = max(0, int(word.top)), min(shape[0], int(numpy.ceil(word.top + word.height)))
    left, right = max(0, int(word.left)), min(shape[1], int(numpy.ceil(word.left + word.width)))
    return slice(top, bottom), slice(left, right)


def covers(boxes, shape):
    mask = numpy.zeros(shape, bool)
    for x, y, width, height in boxes:
        mask[int(round(y)):int(round(y + height)), int(round(x)):int(round(x + width))] = True
    return mask


def rows_of(word, shot):
    """The rows of the table that count a word."""
    high, wide = shot.ink.shape
    letters = re.sub(r'\W|_', '', word.text)
    if min(word.top + word.height, high) - max(word.top, 0) < word.height / 2:
        return [APART[0]]
    if not letters:
        return [APART[1]]
    font = FONTS[0 if word.font < 10.5 else 1 if word.font < 13.5 else 2 if word.font < 18.5 else 3]
    ground = shot.ground[window(word, shot.ink.shape)].mean()
    rows = [ALL, font, DARK_GROUND if ground < DARK else LIGHT_GROUND]
    rows += [CODE] * word.code
    rows += [CUT] * (word.left < 0 or word.top < 0 or word.left + word.width > wide or word.top + word.height > high)
    rows += [SINGLE] * (len(letters) == 1)
    return rows + [SECRETS] * bool(SECRET.search(word.text))


class Tally:
    """Words and places covered, by row."""

    def __init__(self):
        self.words, self.covered = collections.Counter(), collections.Counter()
        self.hidden = self.of_words = self.area = 0

    def add(self, shot, boxes):
        """Returns the words that are not covered."""
        mask, missed, secrets = covers(boxes, shot.ink.shape), [], {}
        for word in shot.words:
            place = window(word, shot.ink.shape)
            ink = shot.ink[place]
            total = int(ink.sum())
            if not total:
                continue  # something lies over it
            covered = int(ink[mask[place]].sum()) >= COVERED * total
            rows = rows_of(word, shot)
            self.words.update(rows)
            self.covered.update(rows if covered else ())
            if SECRETS in rows:
                secrets[word.text] = secrets.get(word.text, True) and covered
            if not covered and rows[0] not in APART:
                missed.append(word)
        self.words[DISTINCT] += len(secrets)
        self.covered[DISTINCT] += sum(secrets.values())
        self.hidden += int(mask.sum())
        self.of_words += int(covers([(one.left, one.top, one.width, one.height) for one in shot.words], mask.shape).sum())
        self.area += mask.size
        return missed

    def share(self, row):
        return f'{self.covered[row] / self.words[row]:.4f}' if self.words[row] else ''
