#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares the daemon's answers to damaged JPEGs with the warnings of libjpeg-turbo's djpeg.

    apt install libjpeg-turbo-progs
    BLURD=build/release/blurd tests/corpus/damage.py [files of each kind] [seed]

Overwrites 64 bytes at a random place in the scans of a file, asks djpeg and the daemon, and prints a row for each kind of file. By the rule of
docs/api.md surplus bytes before a marker are allowed, and any other warning of djpeg is an error. djpeg may
overlook codes that do not exist, since libjpeg's faster loop does not look; the daemon never does. The exit
status is 1 when a file was answered against the rule."""

import collections
import pathlib
import random
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'http'))

import daemon  # noqa: E402
import pictures  # noqa: E402

BYTES = 64
KINDS = {
    'baseline 4:2:0': [], 'baseline 4:4:4, own tables': ['-sample', '1x1', '-optimize'], 'grey': ['-grayscale'],
    'restarts': ['-restart', '5B'], 'restarts, a row each': ['-restart', '1'],
    'progressive': ['-progressive'], 'progressive, restarts': ['-progressive', '-restart', '7B'],
    'a scan for each component': ['-scans'], 'arithmetic': ['-arithmetic'],
}
SCANS = '0;\n1;\n2;\n'
TARGETS = ('/blur?sigma=1', '/blur?sigma=1&format=png', '/blur?sigma=1&region=8,8,40,30')


def victim(options, folder):
    """A picture of 330x250 as a JPEG of that kind."""
    bitmap, script = folder / 'picture.ppm', folder / 'scans.txt'
    bitmap.write_bytes(b'P6 330 250 255\n' + pictures.photograph(330, 250).tobytes())
    script.write_text(SCANS)
    options = [o for option in options for o in ((option, str(script)) if option == '-scans' else (option,))]
    return subprocess.run(['cjpeg', '-quality', '88', *options, str(bitmap)], check=True, capture_output=True).stdout


def scan_bytes(data):
    """The places of all entropy-coded bytes."""
    found, at = [], 2
    while data[at + 1] != 0xD9:
        marker, at = data[at + 1], at + 2 + int.from_bytes(data[at + 2:at + 4], 'big')
        if marker == 0xDA:
            begin = at
            while data[at] != 0xFF or data[at + 1] == 0 or 0xD0 <= data[at + 1] <= 0xD7:
                at += 1
            found += range(begin, at)
    return found


def overwrite(data, places, order):
    at = order.choice(places[:-BYTES])
    return data[:at] + order.randbytes(BYTES) + data[at + BYTES:]


def warnings(data):
    """The warnings of djpeg about a file, without numbers, each once."""
    done = subprocess.run(['djpeg', '-verbose', '-verbose', '-verbose'], input=data, capture_output=True)
    lines = done.stderr.decode(errors='replace').splitlines()
    said = [re.sub(r'0x\w+|\d+', '#', line) for line in lines if line.startswith(('Corrupt', 'Invalid', 'Inconsistent', 'Premature'))]
    return set(said) | ({f'error: {lines[-1]}'} if done.returncode == 1 else set())


def is_allowed(warning):
    return 'extraneous bytes before marker' in warning


def judge(found, status):
    """The verdicts of djpeg and of the daemon in a few words, and whether they disagree."""
    harmful = sorted(w for w in found if not is_allowed(w))
    says = harmful[0] if harmful else 'surplus bytes' if found else 'nothing'
    return says, (status == 200) == bool(harmful)


def run(count, seed, folder):
    order, table, against = random.Random(seed), collections.Counter(), 0
    with daemon.Daemon('--gpus', 'none') as server:
        for kind, options in KINDS.items():
            whole = victim(options, folder)
            places = scan_bytes(whole)
            for _ in range(count):
                body = overwrite(whole, places, order)
                answers = [server.post(target, body) for target in TARGETS]
                statuses = {answer.status_code for answer in answers}
                says, differs = judge(warnings(body), 200 if 200 in statuses else max(statuses))
                code = ' (bad code)' if differs and 'bad Huffman code' in answers[0].text else ''
                differs = differs and not code or len(statuses) > 1
                against += differs
                table[kind, says, '/'.join(map(str, sorted(statuses))) + code, 'AGAINST THE RULE' if differs else ''] += 1
    for (kind, says, status, note), number in sorted(table.items()):
        print(f'{kind:27} {number:4}  djpeg: {says[:64]:64} blurd: {status} {note}'.rstrip())
    print(f'{sum(table.values())} files, {against} against the rule')
    return against


if __name__ == '__main__':
    import tempfile
    with tempfile.TemporaryDirectory() as name:
        sys.exit(run(int((sys.argv[1:] or [100])[0]), int((sys.argv[2:] or [1])[0]), pathlib.Path(name)) > 0)
