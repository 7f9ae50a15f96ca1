# SPDX-License-Identifier: MIT
"""What trained layers find in pictures, without the daemon: for choosing between trainings. bench/plates.py measures the daemon.

    detect/plates/train/look.py PLATES.pt MODEL.onnx LIST.json

LIST.json: [{"file", "set", "plates": [[x, y, w, h]]}], with files beside it."""

import json
import pathlib
import sys

import cv2
import numpy
import torch

import body
import convert
import head

BORDER, UNIT, MARGIN, GROWTH = 16, 32, 0.2, 2
PIXEL = 0.3


def padded(picture):
    high, wide = picture.shape[:2]
    below, right = -(high + 2 * BORDER) % UNIT + BORDER, -(wide + 2 * BORDER) % UNIT + BORDER
    return numpy.pad(picture, ((BORDER, below), (BORDER, right), (0, 0)), mode='reflect')


def boxes_of(probability, size):
    """(x, y, width, height, score) of each component, in pixels."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats((probability >= PIXEL).astype(numpy.uint8), connectivity=8)
    boxes = []
    for index in range(1, count):
        x, y, wide, high, area = stats[index]
        peak = float(probability[y:y + high, x:x + wide][labels[y:y + high, x:x + wide] == index].max())
        if area >= 6:
            boxes.append((*(int(value) for value in (2 * x - BORDER - GROWTH, 2 * y - BORDER - GROWTH, 2 * wide + 2 * GROWTH, 2 * high + 2 * GROWTH)),
                          peak))
    return boxes


def share(plate, boxes, margin=MARGIN):
    """The part of a plate that the boxes with their margin cover."""
    x, y, wide, high = (round(value) for value in plate)
    mask = numpy.zeros((max(high, 1), max(wide, 1)), bool)
    for left, top, width, height, _ in boxes:
        by_x, by_y = width * margin, height * margin
        x0, x1 = int(numpy.floor(left - by_x)) - x, int(numpy.ceil(left + width + by_x)) - x
        y0, y1 = int(numpy.floor(top - by_y)) - y, int(numpy.ceil(top + height + by_y)) - y
        mask[max(y0, 0):max(y1, 0), max(x0, 0):max(x1, 0)] = True
    return mask.mean()


def touches(box, plates):
    return any(box[0] < x + wide and x < box[0] + box[2] and box[1] < y + high and y < box[1] + box[3] for x, y, wide, high in plates)


@torch.no_grad()
def probability_of(net, seen, picture, device):
    tensor = torch.from_numpy(padded(picture)).permute(2, 0, 1)[None].to(device).float()
    logits = net({index: values.float() for index, values in seen(tensor).items()})
    return logits[0, 0].sigmoid().cpu().numpy()


def load(weights, onnx, device):
    scales = str(body.DETECT / 'text' / 'ppocr.scales')
    net = head.Head(convert.read_scales([scales], body.network.layers('text'))).to(device)
    net.load_state_dict(torch.load(weights, map_location=device))
    net.eval()
    net.rounds = True
    seen = body.Body(onnx, scales, net.reads, device, torch.float16 if device == 'cuda' else torch.float32)
    return net, seen


def main():
    weights, onnx, listed = sys.argv[1:]
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    net, seen = load(weights, onnx, device)
    rows, found = {}, []
    folder = pathlib.Path(listed).parent
    for entry in json.loads(pathlib.Path(listed).read_text(encoding='utf-8')):
        picture = cv2.cvtColor(cv2.imread(str(folder / entry['file'])), cv2.COLOR_BGR2RGB)
        probability = probability_of(net, seen, picture, device)
        boxes = boxes_of(probability, picture.shape[:2])
        found.append({'file': entry['file'], 'boxes': boxes, 'plates': entry['plates']})
        for threshold in (0.3, 0.5, 0.7, 0.85, 0.95):
            row = rows.setdefault((entry['set'], threshold), [0, 0, 0, 0, 0])
            sure = [box for box in boxes if box[4] >= threshold]
            shares = [share(plate, sure) for plate in entry['plates']]
            for number, value in enumerate((1, len(shares), sum(part >= 0.98 for part in shares), sum(part >= 0.7 for part in shares),
                                            sum(not touches(box, entry['plates']) for box in sure))):
                row[number] += value
    for (name, threshold), (pictures, plates, whole, most, wrong) in sorted(rows.items()):
        print(f'{name} {threshold}: {pictures} pictures, {plates} plates, 98 % {whole / max(plates, 1):.3f}, 70 % {most / max(plates, 1):.3f}, '
              f'other boxes {wrong / pictures:.2f}')
    pathlib.Path('found.json').write_text(json.dumps(found), encoding='utf-8')


if __name__ == '__main__':
    main()
