# SPDX-License-Identifier: MIT
"""Writes a head for number plates with random weights, the same each time, which finds nothing that anyone looks for: what runs
it can be tested with it. It follows detect/plates/network.def.

    tests/plates/made_up.py FOLDER        writes plates.head, plates.sha256 and plates.scales into FOLDER"""
import hashlib
import math
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'detect'))
import convert # pylint: disable=wrong-import-position
import network # pylint: disable=wrong-import-position
import onnx_layers # pylint: disable=wrong-import-position

SCALE = 0.05 # of outputs
LOGIT = -6 # about the mean of the map: a few cells are above 0


def layer(draw, row, last):
    """As many weights as the row has, so large that values keep their size."""
    reads = 1 if row.kind == 'DEPTH' else row.inputs
    taps = row.size * row.size * reads
    spread = 1 / math.sqrt(reads if row.kind == 'UP' else taps)
    weights = biases = None
    if row.kind != 'CONCAT':
        weights = [[draw.gauss(0, spread) for _ in range(taps)] for _ in range(row.outputs)]
        biases = [LOGIT if last else draw.gauss(0, 0.1) for _ in range(row.outputs)]
    return onnx_layers.Layer(row.kind, row.input, row.inputs, row.outputs, row.size, row.stride, weights, biases)


def main():
    folder = pathlib.Path(sys.argv[1])
    table = network.layers('text', 'plates')
    rows = table[len(network.layers('text')):]
    draw = random.Random(55)
    layers = [layer(draw, row, row is rows[-1]) for row in rows]
    scales = folder / 'plates.scales'
    scales.write_text('# Scale of the output of each layer (detect/convert.py). Made up by tests/plates/made_up.py.\n'
                      + ''.join(f'{row.name} {SCALE}\n' for row in rows[:-1] if row.kind != 'CONCAT'), encoding='utf-8')
    data = convert.head_file(table, layers, convert.read_scales([ROOT / 'detect/text/ppocr.scales', scales], table))
    (folder / 'plates.head').write_bytes(data)
    (folder / 'plates.sha256').write_text(f'{hashlib.sha256(data).hexdigest()}  plates.head\n', encoding='utf-8')


if __name__ == '__main__':
    main()
