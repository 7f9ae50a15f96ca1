# SPDX-License-Identifier: MIT
"""Lists places of the training photographs that trained layers take for plates though nothing is marked there.

    detect/plates/train/propose.py DATA PLATES.pt MODEL.onnx >proposed.json

DATA is what gather.py makes. Places that may be plates go into more.json, which gather.py adds: the data set
leaves plates out that are far away, dark or cut, and training would take them for something else."""

import json
import pathlib
import sys

import cv2

import look

LEAST = 0.3
WIDER = 4 / 3, 1.6  # of a stretched picture: sides of a usual photograph, and both sides larger


def main():
    folder, weights, onnx = pathlib.Path(sys.argv[1]), *sys.argv[2:]
    device = 'cuda' if look.torch.cuda.is_available() else 'cpu'
    net, seen = look.load(weights, onnx, device)
    made = {}
    for entry in json.loads((folder / 'pictures.json').read_text(encoding='utf-8')):
        picture = cv2.cvtColor(cv2.imread(str(folder / entry['file'])), cv2.COLOR_BGR2RGB)
        by = (WIDER[0] * WIDER[1], WIDER[1]) if entry['stretched'] else (1, 1)
        picture = cv2.resize(picture, None, fx=by[0], fy=by[1]) if entry['stretched'] else picture
        found = look.boxes_of(look.probability_of(net, seen, picture, device), picture.shape[:2])
        found = [(x / by[0], y / by[1], wide / by[0], high / by[1], score) for x, y, wide, high, score in found if score >= LEAST]
        made[entry['file']] = [[round(value, 2) for value in box] for box in found if not look.touches(box, entry['plates'])]
    json.dump(made, sys.stdout)


if __name__ == '__main__':
    main()
