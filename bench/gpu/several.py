# SPDX-License-Identifier: MIT
"""Several GPUs of a host: one of them, all of them in one daemon, and a daemon for each of them, which share nothing but
the host. JPEG in and out over HTTP on loopback, asked by wrk. Prints Markdown; ends with 1 when a request failed.
Standard library only.

    several.py --blurd PATH --wrk PATH --out FOLDER [--lua bench/rotate.lua] [--seconds 4] PICTURE..."""
import contextlib
import os
import pathlib
import sys
import threading

import host
import load
from service import Service, check, failures

SIGMAS = (5, 20)
CONNECTIONS = 128  # for each GPU
WANTED = {2: 1.95, 4: 3.7}  # GPUs: times the rate of one


def cores():
    """Ticks of all cores since the start of the machine, and how many of them were idle."""
    ticks = [int(field) for field in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(ticks), ticks[3]


def side_by_side(options, device, daemons, sigma, connections):
    """A cell for each daemon, all at the same time, and how many cores were idle."""
    cells = [None] * len(daemons)

    def one(number, daemon):
        cells[number] = load.measure(options, daemon, device, sigma, connections, options.seconds)

    threads = [threading.Thread(target=one, args=pair) for pair in enumerate(daemons)]
    all_before, idle_before = cores()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    all_after, idle_after = cores()
    return cells, (idle_after - idle_before) / (all_after - all_before) * (os.cpu_count() or 1)


def measure(options, device, name, groups):
    """`groups` has the GPUs of each daemon. Returns sigma -> requests a second of all."""
    rates = {}
    with contextlib.ExitStack() as stack:
        daemons = [stack.enter_context(Service(options, ",".join(map(str, group)), f"several-{name}-{group[0]}",
                                               "--connections", "4096")) for group in groups]
        for daemon, group in zip(daemons, groups):
            check(not load.serving(daemon, str(group[0]), "auto"), f"{name}: GPU {', '.join(map(str, group))} serves")
        connections = CONNECTIONS * len(groups[0])
        for sigma in SIGMAS:
            for daemon in daemons:
                load.wrk(options, daemon, load.target_of(sigma), options.photographs, connections, 1)
            cells, idle = side_by_side(options, device, daemons, sigma, connections)
            rates[sigma] = sum(cell["rate"] for cell in cells)
            cpu = [cell["cpu_ms"] for cell in cells if cell["cpu_ms"] is not None]
            each = ", ".join(f"{cell['rate']:.0f}" for cell in cells)
            print(f"| {name} | {sigma} | {connections * len(daemons)} | {rates[sigma]:.0f} | {each} | "
                  f"{max(cell['p99'] for cell in cells):.1f} | {sum(cell['errors'] for cell in cells)} | "
                  f"{sum(cpu) / max(1, len(cpu)):.2f} | {idle:.1f} |", flush=True)
            check(not sum(cell["errors"] for cell in cells), f"{name}, sigma {sigma}: no request failed")
        for daemon in daemons:
            load.check_lasted(daemon)
    return rates


def compare(count, one, other, what):
    for sigma in SIGMAS:
        times = other[sigma] / max(1, one[sigma])
        wanted = WANTED.get(count)
        verdict = f" ({wanted} are wanted: {'met' if times >= wanted else '**not met**'})" if wanted else ""
        print(f"* sigma {sigma}: {what} did {times:.2f} times as many as one GPU{verdict}")


def main():
    options = load.parsed(load.arguments(seconds=4))
    options.seconds = 1 if options.quick else int(options.seconds)
    print("\n## Several GPUs\n")
    with host.Device() as device:
        gpus = host.gpus() or [0]
        print(f"{len(gpus)} GPUs, {os.cpu_count()} cores; {len(options.photographs)} photographs of 1920x1080, {options.origin}, in turn.\n")
        print("| daemons | sigma | connections | requests/s | of each daemon | p99, ms | errors | CPU, ms/request | idle cores |\n"
              "|---|--:|--:|--:|---|--:|--:|--:|--:|", flush=True)
        one = measure(options, device, "one GPU", [gpus[:1]])
        if len(gpus) > 1:
            together = measure(options, device, f"one daemon, {len(gpus)} GPUs", [gpus])
            apart = measure(options, device, "a daemon for each GPU", [[gpu] for gpu in gpus])
            print()
            compare(len(gpus), one, together, "one daemon with all of them")
            compare(len(gpus), one, apart, "a daemon for each of them")
    print()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
