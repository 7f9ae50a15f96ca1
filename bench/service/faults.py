# SPDX-License-Identifier: MIT
"""How soon the daemon notices that a kernel has faulted, again and again, while wrk asks for JPEGs on loopback: where the
GPU only filters, and where it does all the work. Prints Markdown; ends with 1 when a request was lost, or when a fault
was noticed later than WITHIN_MS. Standard library only.

    faults.py --blurd PATH --wrk PATH --out FOLDER [--lua bench/post.lua] [--rounds 10] [--gpu-timeout 2s] PICTURE...

A round has a daemon of its own and two faults: after a third one within five minutes the daemon would wait a minute."""
import argparse
import calendar
import os
import pathlib
import re
import signal
import statistics
import sys
import time

from service import Load, Service, check, failures, lost, number, subject_of

WITHIN_MS = 300
FAULTS = 2      # in a round
SECONDS = 10    # of a round, enough for two ends that take three seconds
BEFORE_S = 1.2  # of load, before each fault
AGAIN_S = 15    # at most, until another process serves
WAYS = {"cpu": "the GPU filters", "gpu": "JPEG to JPEG on the GPU"}  # values of --jpeg-codec


def noticed(log):
    """Seconds since 1970 at which the daemon gave its GPU's process up, and why."""
    lines = re.findall(r'^(\S+)\.(\d{3})Z warning gpu message="the GPU\'s process has to end, as a run failed: (.*)"$', log, re.M)
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


def round_of(options, subject, name):
    """Milliseconds until each fault was noticed, the reasons, the p99 of the round in ms, and what is wrong."""
    codec, picture, expected = subject
    with Service(options, "all", name, "--jpeg-codec", codec, "--gpu-timeout", options.gpu_timeout) as service:
        if service.wait_for_gpu(20)[0] != "serving":
            return [], [], 0, ["the GPU does not serve before the load begins"]
        load, sent = Load(options, service, SECONDS, name, picture, expected), []
        for _ in range(FAULTS):
            time.sleep(BEFORE_S)
            at, again = fault(service)
            sent += [at] if again else []
        text = load.finish()
    told = noticed((options.out / f"{name}.log").read_text())
    wrong = [lost(text)] if lost(text) else []
    if not len(sent) == len(told) == FAULTS:
        wrong.append(f"{len(sent)} of {FAULTS} faults have passed, {len(told)} were noticed")
        sent = []  # nothing says which of them belong together
    return [(at - begin) * 1000 for begin, (at, _) in zip(sent, told)], [why for _, why in told], number(r"p99 ([\d.]+)", text), wrong


def measure(options, codec):
    """Prints the row of a way; returns its checks, for below the table."""
    subject = subject_of(options, codec, options.pictures[0])
    rounds = [round_of(options, subject, f"faults-{codec}-{i}") for i in range(options.rounds)]
    times, p99, wrong = sorted(ms for row in rounds for ms in row[0]), [row[2] for row in rounds], [text for row in rounds for text in row[3]]
    reasons = {re.sub(r"[\d.]+ ms", "N ms", why) for row in rounds for why in row[1]}
    if times:
        print(f"| {WAYS[codec]} | {len(times)} | {times[0]:.0f} | {statistics.median(times):.0f} | {times[-1]:.0f} | "
              f"{statistics.median(p99):.0f} | {max(p99):.0f} | {'; '.join(sorted(reasons))} |", flush=True)
    return [(not wrong, f"{WAYS[codec]}: {'; '.join(wrong) or 'no request is lost, every body as expected'}"),
            (bool(times) and times[-1] <= WITHIN_MS, f"{WAYS[codec]}: each fault was noticed within {WITHIN_MS} ms")]


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
    print(f"\n## Faults\n\n{FAULTS} in each of {options.rounds} rounds of {SECONDS} s, {options.connections} connections, {options.pictures[0].name}. "
          "Times are from the signal that makes the next run fault until the daemon gives its GPU's process up, in ms.\n\n"
          "| way | faults | soonest | median | latest | p99 of a round, median | the largest | what the log says |\n"
          "|---|--:|--:|--:|--:|--:|--:|---|", flush=True)
    checks = [found for codec in WAYS for found in measure(options, codec)]
    print()
    for holds, text in checks:
        check(holds, text)
    print()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
