# SPDX-License-Identifier: MIT
"""How soon the daemon notices that a kernel has faulted, again and again, while wrk asks for JPEGs on loopback: where the
GPU only filters, where it does all the work, and with three sizes of a picture at once. Then whether the daemon
takes runs for faults that only take long. Prints Markdown; ends with 1 when a request was lost, when a
fault was noticed later than WITHIN_MS, or when a GPU without a fault was given up. Standard library only.

    faults.py --blurd PATH --wrk PATH --out FOLDER [--lua bench/post.lua] [--rounds 10] [--gpu-timeout 2s] PICTURE...

A round has a daemon of its own and two faults: after a third one within five minutes the daemon would wait a minute."""
import argparse
import calendar
import concurrent.futures
import copy
import os
import pathlib
import re
import signal
import statistics
import struct
import sys
import time
import zlib

from service import Load, Service, check, chunk, failures, lost, number, subject_of

WITHIN_MS = 300
FAULTS = 2      # in a round
SECONDS = 10    # of a round, enough for two ends that take three seconds
BEFORE_S = 1.2  # of load, before each fault
AGAIN_S = 15    # at most, until another process serves
WIDTHS = (1280, 400)  # of the smaller pictures
WAYS = {"the GPU filters": "cpu", "JPEG to JPEG on the GPU": "gpu", "three sizes at once": "auto"}  # values of --jpeg-codec
# What a GPU without a fault does in turn: what, size, at once, and how many.
HEALTHY = (("/median?radius=1", (2560, 1440), 1, 48), ("/median?radius=25", (6000, 4000), 1, 2),
           ("/median?radius=25", (8000, 5000), 4, 8), ("/blur?sigma=80&colorspace=linear", (8000, 5000), 16, 32))


def noticed(log):
    """Seconds since 1970 at which the daemon gave its GPU's process up, and why."""
    lines = re.findall(r'^(\S+)\.(\d{3})Z warning gpu message="a job failed; restarting the GPU process: (.*)"$', log, re.M)
    return [(calendar.timegm(time.strptime(second, "%Y-%m-%dT%H:%M:%S")) + int(ms) / 1000, why) for second, ms, why in lines]


def fault(service):
    """Lets the engine's next run fault. When that was, and whether another process served soon."""
    pid, began = service.engine(), time.monotonic()
    if pid is None:
        return None, False
    sent = time.time()
    os.kill(pid, signal.SIGUSR1)
    while service.engine() in (None, pid) and time.monotonic() - began < AGAIN_S:
        time.sleep(0.002)
    return sent, service.engine() not in (None, pid) and service.wait_for_gpu(AGAIN_S)[0] == "serving"


def round_of(options, codec, subjects, name):
    """Milliseconds until each fault was noticed, the reasons, the p99 of the round in ms, and what is wrong."""
    share, sent = copy.copy(options), []
    share.connections = options.connections // len(subjects)
    with Service(options, "all", name, "--jpeg-codec", codec, "--gpu-timeout", options.gpu_timeout) as service:
        if service.wait_for_gpu(20)[0] != "serving":
            return [], [], 0, ["the GPU does not serve before the load begins"]
        loads = [Load(share, service, SECONDS, f"{name}-{picture.stem}", picture, expected) for _, picture, expected in subjects]
        for _ in range(FAULTS):
            time.sleep(BEFORE_S)
            at, again = fault(service)
            sent += [at] if again else []
        texts = [load.finish() for load in loads]
    told = noticed((options.out / f"{name}.log").read_text())
    wrong = [lost(text) for text in texts if lost(text)]
    if not len(sent) == len(told) == FAULTS:
        wrong.append(f"{len(sent)} of {FAULTS} faults have passed, {len(told)} were noticed")
        sent = []  # nothing says which of them belong together
    p99 = max(number(r"p99 ([\d.]+)", text) for text in texts)
    return [(at - begin) * 1000 for begin, (at, _) in zip(sent, told)], [why for _, why in told], p99, wrong


def smaller(options):
    """The picture in each of WIDTHS."""
    paths = [options.out / f"{width}.jpg" for width in WIDTHS]
    with Service(options, "none", "smaller") as service:
        service.wait_for_gpu(0.5)
        for width, path in zip(WIDTHS, paths):
            path.write_bytes(service.request("POST", f"/resize?width={width}", options.pictures[0].read_bytes())[2])
    return paths


def measure(options, way, codec):
    """Prints the row of a way; returns its checks, for below the table."""
    pictures = options.pictures[:1] + (smaller(options) if codec == "auto" else [])
    subjects = [subject_of(options, codec, picture) for picture in pictures]
    rounds = [round_of(options, codec, subjects, f"faults-{codec}-{i}") for i in range(options.rounds)]
    times, p99, wrong = sorted(ms for row in rounds for ms in row[0]), [row[2] for row in rounds], [text for row in rounds for text in row[3]]
    reasons = {re.sub(r"[\d.]+ ms", "N ms", why) for row in rounds for why in row[1]}
    if times:
        print(f"| {way} | {len(times)} | {times[0]:.0f} | {statistics.median(times):.0f} | {times[-1]:.0f} | "
              f"{statistics.median(p99):.0f} | {max(p99):.0f} | {'; '.join(sorted(reasons))} |", flush=True)
    return [(not wrong, f"{way}: {'; '.join(wrong) or 'no request is lost, every body as expected'}"),
            (bool(times) and times[-1] <= WITHIN_MS, f"{way}: each fault was noticed within {WITHIN_MS} ms")]


def make_deep(width, height):
    """A PNG of RGBA with 16 bits whose rows repeat 40 pixels."""
    rows = [b"\0" + os.urandom(40 * 8) * (width // 40) for _ in range(5)]
    data = zlib.compress(b"".join(rows[y // 3 % len(rows)] for y in range(height)), 1)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 16, 6, 0, 0, 0)) + chunk(b"IDAT", data) +
            chunk(b"IEND", b""))


def healthy(options):
    """Checks of runs that take long without a fault: a median of 16 bits takes hundreds of times as long as usual ones of
    late, and many large pictures at once have to wait for each other."""
    checks = []
    with Service(options, "all", "healthy", "--work-timeout", "60s") as service:
        service.wait_for_gpu(20)
        pid = service.engine()
        for target, (width, height), at_once, count in HEALTHY:
            body = make_deep(width, height)
            with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
                answers = list(pool.map(lambda _: service.request("POST", f"{target}&format=png&effort=0", body)[:2], range(count)))
            by = sorted(set(answers))
            checks.append((service.engine() == pid and all(status == 200 and backend.startswith("cuda:") for status, backend in by),
                           f"{count} of {target} with {width}x{height}, {at_once} at once: the GPU's process lasted, and did all: {by}"))
    return checks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--blurd", required=True)
    parser.add_argument("--wrk", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--lua", default="bench/post.lua")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--gpu-timeout", default="2s")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("pictures", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print(f"\n## Faults\n\n{FAULTS} in each of {options.rounds} rounds of {SECONDS} s, {options.connections} connections, {options.pictures[0].name}; for "
          f"three sizes also {' and '.join(map(str, WIDTHS))} pixels wide. Times are from the signal that makes the next run fault until "
          "the daemon gives its GPU's process up, in ms.\n\n"
          "| way | faults | soonest | median | latest | p99 of a round, median | the largest | what the log says |\n"
          "|---|--:|--:|--:|--:|--:|--:|---|", flush=True)
    checks = [found for way, codec in WAYS.items() for found in measure(options, way, codec)] + healthy(options)
    print()
    for holds, text in checks:
        check(holds, text)
    print()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
