# SPDX-License-Identifier: MIT
"""Training pictures, made without end by several processes: photographs of the data folder, in which scenes.py puts plates and what
only looks like them, and pages with text, from pages.py."""

import json
import pathlib

import cv2
import numpy
import torch

import fonts
import pages
import scenes

SIDE = 640  # of a training picture
NEGATIVE = 0.35  # of all pictures have no plate
PAGES = 0.33  # of those are no photographs: pages.py
GROWN = 1.6  # stretched photographs are small
USUAL_AREA = 400  # cells of a plate whose cells count once


def weights(mask, ignore):
    """How much each cell of the map counts: those of small plates more, those along the edge of a plate not at all."""
    cells = (mask[::2, ::2] + mask[1::2, ::2] + mask[::2, 1::2] + mask[1::2, 1::2]).astype(numpy.float32) / 4
    inner = (cells >= 0.5).astype(numpy.uint8)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(inner, connectivity=8)
    areas = numpy.maximum(stats[:, cv2.CC_STAT_AREA].astype(numpy.float32), 1)
    factor = numpy.clip((USUAL_AREA / areas) ** 0.5, 0.3, 4)
    factor[0] = 1
    weight = factor[labels]
    edge = cv2.dilate(inner, numpy.ones((3, 3), numpy.uint8)) - inner
    weight[edge > 0] = 0
    weight[cv2.dilate(ignore, numpy.ones((3, 3), numpy.uint8))[::2, ::2] > 0] = 0
    return inner.astype(numpy.float32), weight


class Pictures(torch.utils.data.IterableDataset):
    def __init__(self, folder, fonts, seed):
        super().__init__()
        self.folder, self.fonts, self.seed = pathlib.Path(folder), fonts, seed
        entries = json.loads((self.folder / 'pictures.json').read_text(encoding='utf-8'))
        stretched = [entry for entry in entries if entry['stretched']]
        self.groups = ([entry for entry in entries if entry['plates'] and not entry['stretched']], stretched,
                       [entry for entry in entries if not entry['plates'] and not entry['stretched']])

    def read(self, rng, entry):
        """A photograph and its plates. Where there may be others it is blurred."""
        photo = cv2.imread(str(self.folder / entry['file']))
        if photo is None:
            raise OSError(f"{entry['file']} is no picture")
        photo = cv2.cvtColor(photo, cv2.COLOR_BGR2RGB)
        for place in entry['unsure']:
            left, top, right, bottom = (max(0, int(value)) for value in (place[0], place[1], place[0] + place[2], place[1] + place[3]))
            part = photo[top:bottom, left:right]
            if part.size:
                part[...] = cv2.blur(part, (2 * (part.shape[1] // 6) + 3, 2 * (part.shape[0] // 6) + 3))
        if not entry['stretched']:
            return photo, entry['plates']
        ratio = rng.uniform(1.2, 1.6) if rng.random() < 0.85 else rng.uniform(0.7, 0.8)
        photo = cv2.resize(photo, None, fx=ratio * GROWN, fy=GROWN, interpolation=cv2.INTER_LINEAR)
        return photo, [(x * ratio * GROWN, y * GROWN, wide * ratio * GROWN, high * GROWN) for x, y, wide, high in entry['plates']]

    def one(self, rng):
        marked, stretched, plain = self.groups
        negative = rng.random() < NEGATIVE
        if negative and rng.random() < PAGES:
            return self.item(pages.page(rng, (SIDE, SIDE)), *numpy.zeros((2, SIDE, SIDE), numpy.uint8))
        if negative:
            group, make = (plain, marked, stretched)[rng.choice(3, p=(0.6, 0.2, 0.2))], scenes.negative
        else:
            group, make = (plain, marked, stretched)[rng.choice(3, p=(0.25, 0.3, 0.45))], scenes.scene
        photo, places = self.read(rng, group[rng.integers(len(group))])
        return self.item(*make(rng, photo, places, (SIDE, SIDE)))

    def item(self, picture, mask, ignore):
        target, weight = weights(mask, ignore)
        return torch.from_numpy(numpy.ascontiguousarray(picture)), torch.from_numpy(target), torch.from_numpy(weight)

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        rng = numpy.random.default_rng([self.seed, worker.id if worker else 0])
        cv2.setNumThreads(1)
        fonts.use(self.fonts)
        while True:
            yield self.one(rng)
