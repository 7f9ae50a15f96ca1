# SPDX-License-Identifier: MIT
"""Asks a daemon with a GPU and one without for the same work on files of all formats, and compares the answers byte for byte, with what
their headers say about regions and gain maps. Prints Markdown; ends with 1 where one differs. Standard library only.

    formats.py --blurd PATH --asks FOLDER --out FOLDER      FOLDER: what bodies.py made
"""
import argparse
import collections
import concurrent.futures
import http.client
import json
import pathlib
import sys

from service import Service, check, failures

HEADERS = ('Content-Type', 'X-Regions', 'X-HDR', 'X-Blurd-Notice')


def ask(service, target, body):
    """status, headers that count, backend, bytes"""
    connection = http.client.HTTPConnection('127.0.0.1', service.port, timeout=120)
    try:
        connection.request('POST', target, body)
        answer = connection.getresponse()
        return answer.status, [answer.headers.get(name) for name in HEADERS], answer.headers.get('X-Backend', ''), answer.read()
    finally:
        connection.close()


def compare(gpu, cpu, body, target):
    """whether both say the same, whether they say 200, whether a GPU did it, what differs"""
    ours, theirs = ask(gpu, target, body), ask(cpu, target, body)
    same = ours[:2] == theirs[:2] and ours[3] == theirs[3]
    said = '' if same and ours[0] == 200 else f'{ours[:3]} {len(ours[3])} bytes, {theirs[:3]} {len(theirs[3])} bytes {ours[3][:160] if ours[0] != 200 else b""}'
    return same, ours[0] == 200, ours[2].startswith('cuda'), said


def rows(options, gpu, cpu):
    total = collections.Counter()
    print('| body | requests | equal | answered | by the GPU |\n|---|--:|--:|--:|--:|')
    remarks = []
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for one in json.loads((options.asks / 'asks.json').read_text()):
            body, count = (options.asks / one['file']).read_bytes(), collections.Counter()
            for target, (same, fine, by_gpu, said) in zip(one['targets'], pool.map(lambda target: compare(gpu, cpu, body, target), one['targets'])):
                count.update(cases=1, same=same, fine=fine, gpu=by_gpu)
                remarks += [f"* {one['name']}, `{target}`: {said}"] if said else []
            total.update(count)
            print(f"| {one['name']} | {count['cases']} | {count['same']} | {count['fine']} | {count['gpu']} |")
    print('', *remarks, '', sep='\n')
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--blurd', required=True)
    for name in ('--asks', '--out'):
        parser.add_argument(name, type=pathlib.Path, required=True)
    parser.add_argument('--patience', action='store_true', help='for GPUs that are none')
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print('\n## All formats over HTTP\n')
    patience = ['--gpu-timeout', '60s', '--work-timeout', '2m'] if options.patience else []
    with Service(options, 'all', 'formats-gpu', *patience) as gpu, Service(options, 'none', 'formats-cpu', *patience) as cpu:
        state = gpu.wait_for_gpu(20)
        check(state[0] == 'serving', f'the GPU serves: {state[1]}')
        total = rows(options, gpu, cpu)
    check(total['same'] == total['cases'] > 0, f"{total['same']} of {total['cases']} answers are those of `--gpus none`, byte for byte")
    check(total['fine'] == total['cases'], f"{total['fine']} of them are pictures")
    check(total['gpu'] > 0.5 * total['cases'], f"{total['gpu']} came from a GPU")
    sys.exit(bool(failures))


if __name__ == '__main__':
    main()
