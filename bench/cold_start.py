#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Cold starts: from starting the program to the end of its first answer, and its memory then, as a Markdown table.

    bench/cold_start.py [STARTS [PROGRAM]...]     starts of each (20); other builds of blurd to compare with

Each start is a new process, and the first request is asked for until the port is open, every quarter of a millisecond. The
files are in the page cache, as on a host that has run the container before. Who is not installed (bench/peers/install.sh) is
left out. Everyone takes turns, so that a slow moment of the machine hits all. Memory is the proportional set size (PSS) of all
processes of the server after the first answer."""

import os
import pathlib
import socket
import statistics
import subprocess
import sys
import time

import subjects

PICTURE = subjects.ROOT / 'build/sample.jpg'
POLL = 0.00025
PATIENCE = 30

LIVEZ = b'GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'


def blur():
    body = PICTURE.read_bytes()
    return b'POST /blur?sigma=5 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n' % len(body) + body


def servers():
    """name -> (command, environment)"""
    found = {name: ([program, '--listen', '127.0.0.1', '--gpus', 'none', '--log-level', 'warning'], {})
             for name, program in [('blurd', str(subjects.RELEASE / 'blurd')), *((path, path) for path in sys.argv[2:])]}
    if (subjects.NODE_MODULES / 'sharp').is_dir():
        found['Node, fastify, sharp'] = (['node', 'bench/peers/sharp.js'], {'NODE_PATH': str(subjects.NODE_MODULES)})
    wheels = subjects.ROOT / 'build/bench/python'
    if (wheels / 'cv2').is_dir():
        found['Python, http.server, OpenCV'] = ([subjects.PYTHON, 'bench/peers/opencv_server.py'], {'PYTHONPATH': str(wheels)})
    return found


def connect(port, process):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            return socket.create_connection(('127.0.0.1', port), timeout=PATIENCE)
        except ConnectionRefusedError:
            time.sleep(POLL)
    raise RuntimeError('it does not start')


def exchange(connection, message):
    """The whole of an answer after which the server closes."""
    connection.sendall(message)
    pieces = []
    while piece := connection.recv(1 << 18):
        pieces.append(piece)
    answer = b''.join(pieces)
    if not answer.startswith(b'HTTP/1.1 200 '):
        raise RuntimeError(f'the first answer is {answer[:200]}')
    return len(answer)


def family(process):
    """The ids of the process and of all below it."""
    children = pathlib.Path(f'/proc/{process}/task/{process}/children').read_text().split()
    return [process, *(each for child in children for each in family(int(child)))]


def memory(process):
    """PSS in bytes."""
    pages = (pathlib.Path(f'/proc/{each}/smaps_rollup').read_text() for each in family(process))
    return sum(int(text.split('Pss:')[1].split()[0]) for text in pages) * 1024


def first_answer(command, environment, message):
    """Seconds and bytes of memory."""
    port = subjects.free_port()
    kept = {key: value for key, value in os.environ.items() if not key.startswith('BLURD_')}
    begin = time.monotonic()
    process = subprocess.Popen(command, cwd=subjects.ROOT, env={**kept, **environment, 'PORT': str(port)},
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with connect(port, process) as connection:
            exchange(connection, message)
        took = time.monotonic() - begin
        return took, memory(process.pid)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def about(command, environment):
    """The server's description of itself, which names its version."""
    if 'python' in command[0]:
        code = 'import cv2, platform; print("Python", platform.python_version() + ", OpenCV", cv2.__version__)'
        return subprocess.run([command[0], '-c', code], env={**os.environ, **environment}, capture_output=True, text=True, check=True).stdout.strip()
    flag = ['-p', '"Node " + process.versions.node + ", sharp " + require("sharp").versions.sharp'] if command[0] == 'node' else ['--version']
    return subprocess.run([command[0], *flag], env={**os.environ, **environment}, capture_output=True, text=True, check=True).stdout.strip()


def cell(answers):
    seconds, memories = zip(*answers)
    return f'{statistics.median(seconds) * 1000:.1f} | {max(seconds) * 1000:.1f} | {statistics.median(memories) / 2 ** 20:.1f}'


def main():
    starts = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    if not PICTURE.exists():
        sys.exit(f'{PICTURE} is not there: run make build/sample.jpg')
    found = servers()
    times = {name: ([], []) for name in found}
    for _ in range(starts):
        for name, (command, environment) in found.items():
            for place, message in enumerate((LIVEZ, blur())):
                times[name][place].append(first_answer(command, environment, message))
    print(f'Milliseconds from the start of the program to the end of its first answer, {starts} starts each, {len(subjects.CORES)} cores:\n')
    print('| | first answer, median | worst | MiB | first picture, median | worst | MiB |')
    print('| --- | --: | --: | --: | --: | --: | --: |')
    for name, (page, picture) in times.items():
        print(f'| {name} ({about(*found[name])}) | {cell(page)} | {cell(picture)} |')


main()
