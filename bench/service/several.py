# SPDX-License-Identifier: MIT
"""Several GPUs of a host: one of them, then 2, 4 and 8 in one daemon, and as many daemons with one each, which share
nothing but the host. JPEG in and out over HTTP on loopback, asked by wrk. Prints Markdown; ends with 1 when a request failed.
Standard library only.

    several.py --blurd PATH --wrk PATH --out FOLDER [--lua bench/rotate.lua] [--seconds 4] PICTURE..."""
import contextlib
import functools
import os
import sys
import threading

import host
import load
from service import Service, check, failures

SIGMAS = (5, 20)
CONNECTIONS, WRK_THREADS = 128, 6  # for each GPU
COUNTS = (2, 4, 8)
WANTED = {2: 1.95, 4: 3.7}  # GPUs: times the rate of one


def side_by_side(options, device, daemons, sigma, connections):
    """A cell for each daemon, all at the same time, and how many cores were idle."""
    cells = [None] * len(daemons)

    def one(number, daemon):
        cells[number] = load.measure(options, daemon, device, sigma, connections, options.seconds)

    threads = [threading.Thread(target=one, args=pair) for pair in enumerate(daemons)]
    before = host.cores()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return cells, host.idle(before, host.cores())


def measure(options, device, name, groups, later):
    """`groups` has the GPUs of each daemon. Returns sigma -> requests a second of all. Checks, which must not be printed
    between the lines of a table, are added to `later`."""
    rates = {}
    with contextlib.ExitStack() as stack:
        daemons = [stack.enter_context(Service(options, ",".join(map(str, group)), f"several-{name}-{group[0]}",
                                               "--connections", "4096")) for group in groups]
        for daemon, group in zip(daemons, groups):
            reason = load.serving(daemon, str(group[0]), "auto")
            later.append(functools.partial(check, not reason, f"{name}: GPU {', '.join(map(str, group))} serves{reason and ': ' + reason}"))
        connections, options.wrk_threads = CONNECTIONS * len(groups[0]), WRK_THREADS * len(groups[0])
        for sigma in SIGMAS:
            for daemon in daemons:
                load.wrk(options, daemon, load.target_of(sigma), options.photographs, connections, 1)
            cells, idle = side_by_side(options, device, daemons, sigma, connections)
            rates[sigma] = sum(cell["rate"] for cell in cells)
            errors = sum(cell["errors"] for cell in cells)
            cpu = [cell["cpu_ms"] for cell in cells if cell["cpu_ms"] is not None]
            each = ", ".join(f"{cell['rate']:.0f}" for cell in cells)
            print(f"| {name} | {sigma} | {connections * len(daemons)} | {rates[sigma]:.0f} | {each} | "
                  f"{max(cell['p99'] for cell in cells):.1f} | {errors} | "
                  f"{sum(cpu) / max(1, len(cpu)):.2f} | {idle:.1f} |", flush=True)
            later.append(functools.partial(check, not errors, f"{name}, sigma {sigma}: no request failed"))
        later += [functools.partial(load.check_lasted, daemon) for daemon in daemons]
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
    comparisons, later = [], []
    print("\n## Several GPUs\n")
    with host.Device() as device:
        gpus = host.gpus() or [0]
        print(f"{len(gpus)} GPUs, {os.cpu_count()} cores; {len(options.photographs)} photographs of 1920x1080, {options.origin}, in turn; "
              f"{WRK_THREADS} threads of wrk for each GPU.\n")
        print("| daemons | sigma | connections | requests/s | of each daemon | p99, ms | errors | CPU, ms/request | idle cores |\n"
              "|---|--:|--:|--:|---|--:|--:|--:|--:|", flush=True)
        one = measure(options, device, "one GPU", [gpus[:1]], later)
        for count in filter(lambda count: count <= len(gpus), COUNTS):
            some = gpus[:count]
            together = measure(options, device, f"one daemon, {count} GPUs", [some], later)
            apart = measure(options, device, f"a daemon for each of {count} GPUs", [[gpu] for gpu in some], later)
            comparisons += [(count, one, together, f"one daemon with {count} GPUs"),
                            (count, one, apart, f"{count} daemons with a GPU each")]
    print()
    for one_check in later:
        one_check()
    print()
    for comparison in comparisons:
        compare(*comparison)
    print()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
