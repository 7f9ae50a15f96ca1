#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares what server/planner/cost.h predicts with the CPU time that requests take, for screenshots and photographs as PNG.

    make -s build/release/blurd build/release/bench/predict && tests/python.sh bench/predict.py [--runs N] [--times] [TARGET...]

A daemon with one worker and no GPU takes each request --runs times; the least CPU time counts. Predictions are those before anything is learnt.
They are in time of another machine: all are divided by one number, which makes the mean error of photographs 0.
With --times the milliseconds that requests take are printed. TARGET, as '/median?radius=5', takes the place of some common ones."""
import argparse
import math
import pathlib
import subprocess
import tempfile

import pictures
import report
import screens
import subjects

TARGETS = ('/pixelate?block=8&mode=redact&region=600,400,200,24', '/blur?sigma=5', '/rotate?angle=90', '/resize?width=960',
           '/blur?sigma=5&format=jpeg')


def files_of(folder):
    """Kind -> files."""
    for size, sub in ((pictures.FULL, ''), ((2560, 1440), ' 2560x1440')):
        screens.draw(folder / str(size[0]), size)
    kinds = {}
    for path in sorted((folder / '1920').glob('*.png')):
        kinds.setdefault(path.stem.split('-')[1], []).append(path)
    for mode in ('rgb', 'rgba'):
        kinds[f'{mode}, 2560x1440'] = sorted((folder / '2560').glob(f'*-{mode}.png'))
    kinds['photographs'] = pictures.several(pictures.FULL, 'png')[:3]
    return kinds


def predicted_ms(target, files):
    done = subprocess.run([subjects.RELEASE / 'bench' / 'predict', target, *files], capture_output=True, text=True, check=True)
    return [float(line.split('\t')[1]) for line in done.stdout.splitlines()]


def spent_ms(pid):
    return sum(int((task / 'schedstat').read_text().split()[0]) for task in pathlib.Path(f'/proc/{pid}/task').iterdir()) / 1e6


def taken_ms(daemon, target, path, runs):
    def once():
        before = spent_ms(daemon.process.pid)
        daemon.request('POST', target, path.read_bytes())
        return spent_ms(daemon.process.pid) - before
    return min(once() for _ in range(runs))


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def rows_of(cells, targets, machine):
    for kind, of_target in cells.items():
        yield [kind, *(f'{min(of_target[target]) / machine:.2f} to {max(of_target[target]) / machine:.2f}' for target in targets)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--runs', type=int, default=7)
    parser.add_argument('--times', action='store_true')
    parser.add_argument('targets', nargs='*', default=TARGETS)
    options = parser.parse_args()
    taken, ratios = {}, {}
    daemon = subjects.Blurd(options=('--workers', '1'))
    try:
        with tempfile.TemporaryDirectory() as folder:
            for kind, files in files_of(pathlib.Path(folder)).items():
                taken[kind] = {target: [taken_ms(daemon, target, path, options.runs) for path in files] for target in options.targets}
                ratios[kind] = {target: [predicted / ms for predicted, ms in zip(predicted_ms(target, files), taken[kind][target])]
                                for target in options.targets}
    finally:
        daemon.stop()
    machine = mean([ratio for of_target in ratios['photographs'].values() for ratio in of_target])
    print('Milliseconds.\n' if options.times else f'Predicted to taken time; {machine:.2f} is 1.\n')
    print(report.table(['', *options.targets],
                       list(rows_of(taken, options.targets, 1) if options.times else rows_of(ratios, options.targets, machine))))


if __name__ == '__main__':
    main()
