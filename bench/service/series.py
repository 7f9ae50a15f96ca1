# SPDX-License-Identifier: MIT
"""How many frames of video a daemon answers: series of JPEGs that are sent as fast as they are taken. Prints a Markdown table. Standard
library only; make load elsewhere wait.

    series.py --blurd PATH --frames FILE --out FOLDER [--gpus none|all] [--streams N]... [--seconds S]

FILE: JPEGs one behind the other, as bodies.py makes them (frames.mjpeg) or ffmpeg -f image2pipe -c:v mjpeg; they are sent again and again.
Each stream is one series, with a process that sends and reads it."""
import argparse
import multiprocessing
import pathlib
import socket
import threading
import time

import host
from service import Service

WORKS = {'blur, sigma 8': 'blur?sigma=8&quality=92', 'faces redacted': 'redact?detect=faces&quality=92',
         'faces redacted, each frame by itself': 'redact?detect=faces&detect_hold=0&quality=92'}


def frames_of(data):
    """The files in a row, split where one begins; the thumbnails of cameras would be taken for frames."""
    starts = [at for at in range(len(data) - 2) if data[at] == 0xFF and data[at:at + 3] == b'\xff\xd8\xff']
    return [data[start:end] for start, end in zip(starts, [*starts[1:], len(data)])]


class Reader:
    """The chunks of an answer, each of which is a frame."""

    def __init__(self, connection):
        self.file = connection.makefile('rb', 1 << 20)
        head = iter(self.file.readline, b'\r\n')
        status = next(head)
        if b' 200 ' not in status:
            raise ConnectionError(f'{status.decode()}{b"".join(head).decode()}{self.file.read(400).decode()}')
        list(head)

    def frame(self):
        size = int(self.file.readline() or b'0', 16)
        self.file.read(size + 2)
        return size > 0


def send(connection, pieces, until):
    while time.monotonic() < until:
        for piece in pieces:
            connection.sendall(b'%x\r\n%b\r\n' % (len(piece), piece))
    connection.sendall(b'0\r\n\r\n')


def stream(port, target, pieces, seconds, counted):
    """Sends one series and reads its answer; puts the number of frames and the seconds from first to last."""
    with socket.create_connection(('127.0.0.1', port), 60) as connection:
        connection.sendall(f'POST /series/{target} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'.encode())
        threading.Thread(target=send, args=(connection, pieces, time.monotonic() + seconds), daemon=True).start()
        reader, count = Reader(connection), 0
        began = time.monotonic()
        while reader.frame():
            count += 1
        counted.put((count, time.monotonic() - began))


def measure(service, target, pieces, streams, seconds):
    """frames a second, CPU milliseconds a frame, by the daemon and its children"""
    context, pids = multiprocessing.get_context('fork'), host.family(service.process.pid)
    counted, before = context.Queue(), host.cpu_seconds(pids)
    clients = [context.Process(target=stream, args=(service.port, target, pieces, seconds, counted)) for _ in range(streams)]
    for client in clients:
        client.start()
    results = [counted.get(timeout=seconds + 60) for _ in clients]
    for client in clients:
        client.join()
    frames = sum(count for count, _ in results)
    return frames / max(took for _, took in results), 1000 * (host.cpu_seconds(pids) - before) / frames


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--blurd', required=True)
    for name in ('--frames', '--out'):
        parser.add_argument(name, type=pathlib.Path, required=True)
    parser.add_argument('--gpus', default='none')
    parser.add_argument('--streams', type=int, action='append')
    parser.add_argument('--seconds', type=float, default=10)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    pieces = frames_of(options.frames.read_bytes())
    print(f'\n## Video\n\nSeries of JPEGs of {sum(map(len, pieces)) / len(pieces) / 1000:.0f} kB, gpus {options.gpus}.\n')
    print('| work | series at once | frames a second | CPU, ms a frame |\n|---|--:|--:|--:|')
    with Service(options, options.gpus, 'series') as service:
        service.wait_for_gpu(20 if options.gpus != 'none' else 0.5)
        for name, target in WORKS.items():
            for streams in options.streams or [1]:
                measure(service, target, pieces, streams, min(2, options.seconds))
                rate, cpu = measure(service, target, pieces, streams, options.seconds)
                print(f'| {name} | {streams} | {rate:.1f} | {cpu:.1f} |', flush=True)


if __name__ == '__main__':
    main()
