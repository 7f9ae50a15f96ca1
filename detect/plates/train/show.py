# SPDX-License-Identifier: MIT
"""Writes a sheet of scenes to look at, plates outlined in green and what is ignored in red.

    show.py OUT.png [--fonts FOLDER] [--seed N] [--count N] [--size N] [--negative] PHOTO.jpg...

A PHOTO.xml beside a photograph (Pascal VOC) names its plates."""

import argparse
import os
import time
import xml.etree.ElementTree

import cv2
import numpy

import fonts
import scenes


def marks_of(path):
    """Boxes (x, y, w, h) from the file beside a photograph."""
    path = os.path.splitext(path)[0] + '.xml'
    if not os.path.exists(path):
        return []
    boxes = []
    for box in xml.etree.ElementTree.parse(path).iter('bndbox'):
        x0, y0, x1, y1 = (float(box.find(name).text) for name in ('xmin', 'ymin', 'xmax', 'ymax'))
        boxes.append((x0, y0, x1 - x0, y1 - y0))
    return boxes


def outlined(picture, mask, ignore):
    out = picture.copy()
    for what, colour in ((mask, (0, 255, 0)), (ignore, (255, 0, 0))):
        lines, _ = cv2.findContours(what, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        grown = [line for line in lines]
        cv2.drawContours(out, grown, -1, colour, 1)
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('out')
    parser.add_argument('photos', nargs='+')
    parser.add_argument('--fonts')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--count', type=int, default=12)
    parser.add_argument('--columns', type=int, default=4)
    parser.add_argument('--size', type=int, default=640)
    parser.add_argument('--negative', action='store_true')
    parser.add_argument('--plain', action='store_true', help='no outlines')
    options = parser.parse_args()
    cv2.setNumThreads(1)
    if options.fonts:
        fonts.use(options.fonts)
    rng = numpy.random.default_rng(options.seed)
    tiles, took = [], 0.0
    for i in range(options.count):
        path = options.photos[int(rng.integers(len(options.photos)))]
        photo = cv2.imread(path)[..., ::-1]
        begin = time.perf_counter()
        make = scenes.negative if options.negative else scenes.scene
        picture, mask, ignore = make(rng, photo, marks_of(path), (options.size, options.size))
        took += time.perf_counter() - begin
        tiles.append(picture if options.plain else outlined(picture, mask, ignore))
    while len(tiles) % options.columns:
        tiles.append(numpy.zeros_like(tiles[0]))
    rows = [numpy.hstack(tiles[i:i + options.columns]) for i in range(0, len(tiles), options.columns)]
    cv2.imwrite(options.out, numpy.vstack(rows)[..., ::-1])
    print(f'{options.count} scenes, {took / options.count * 1000:.0f} ms each')


if __name__ == '__main__':
    main()
