# SPDX-License-Identifier: MIT
"""What the threads of the daemon and of its GPU process take, JPEG in and out over HTTP on loopback, asked by wrk: by
thread name the processor time of a request, and how busy the busiest one is. A thread that is busy all the time limits the
rate. Prints Markdown; ends with 1 when a request failed. Standard library only.

    threads.py --blurd PATH --wrk PATH --out FOLDER [--lua bench/rotate.lua] [--gpus all|none] [--seconds 6] PICTURE..."""
import os
import sys
import time

import host
import load
from service import Service, check, failures

SIGMA = 5
CONNECTIONS = (128, 512)
LEAST_US = 0.5  # rows of less are left out
WORK = {"blurd-event": "move bytes between sockets and slots", "blurd-device": "of the places on the GPU, one for each: headers, plan, messages",
        "blurd-submit": "enqueue pictures on the GPU", "blurd-engine": "of the GPU process's sessions, one for each place",
        "blurd-attend": "register slots with the GPU", "blurd-worker": "pictures on cores",
        "blurd-entropy": "hand over progressive files", "blurd-scans": "enqueue progressive files"}


def measure(options, service, device, connections):
    load.wrk(options, service, load.target_of(SIGMA), options.photographs, connections, 1)
    pids = host.family(service.process.pid)
    before, cores, begin = host.threads(pids), host.cores(), time.monotonic()
    cell = load.measure(options, service, device, SIGMA, connections, options.seconds)
    after, idle, took = host.threads(pids), host.idle(cores, host.cores()), time.monotonic() - begin
    print(f"\n### {connections} connections: {cell['rate']:.0f} requests/s, p99 {cell['p99']:.1f} ms, {cell['errors']} errors, "
          f"{idle:.1f} of {os.cpu_count()} cores idle\n\n"
          "| threads | number | user, us/request | system, us/request | the busiest one, % | work |\n|---|--:|--:|--:|--:|---|")
    names = {}
    for thread, (name, user, system) in after.items():
        _, user_before, system_before = before.get(thread, (name, 0, 0))
        names.setdefault(name, []).append((user - user_before, system - system_before))
    each = 1e6 / host.TICK / max(1, cell["requests"])
    for name, ticks in sorted(names.items(), key=lambda item: -sum(map(sum, item[1]))):
        user, system = (sum(column) * each for column in zip(*ticks))
        busiest = max(map(sum, ticks)) / host.TICK / took * 100
        if user + system >= LEAST_US:
            print(f"| {name} | {len(ticks)} | {user:.0f} | {system:.0f} | {busiest:.0f} | {WORK.get(name, '')} |")
    check(not cell["errors"], f"{connections} connections: no request failed")


def main():
    options = load.parsed(load.arguments(seconds=6))
    options.seconds = 1 if options.quick else int(options.seconds)
    print(f"\n## Threads\n\nSigma {SIGMA}; {len(options.photographs)} photographs of 1920x1080, {options.origin}, in turn.")
    with host.Device() as device, Service(options, options.gpus, "threads", "--connections", "4096") as service:
        check(not load.serving(service, options.gpus, "auto"), "the daemon serves")
        for connections in CONNECTIONS:
            measure(options, service, device, connections)
        load.check_lasted(service)
    print()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
