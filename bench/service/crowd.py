# SPDX-License-Identifier: MIT
"""Many connections at once: rate and refusals, JPEG in and out over HTTP on loopback, asked by wrk. All limits but that
of connections are the defaults. Prints Markdown; ends with 1 when a request failed or was refused, or when 512 or 2048
connections got less than 0.95 times the rate of 128. Standard library only.

    crowd.py --blurd PATH --wrk PATH --out FOLDER [--lua bench/rotate.lua] [--gpus all|none] [--seconds 5] PICTURE..."""
import re
import resource
import sys

import host
import load
from service import Service, check, failures

SIGMA = 5
CONNECTIONS = (128, 512, 2048, 128)  # the last one shows lasting effects of the others
FEW, MANY = 128, 512  # MANY is for a fresh daemon
LEAST = 0.95


def refusals(service):
    """reason -> requests refused since the start"""
    found = re.findall(r"^blurd_refused_(\w+)_total (\d+)", load.settled_metrics(service), re.M)
    return {reason: int(count) for reason, count in found if int(count)}


def say_refusals(service, cells):
    found, errors = refusals(service), sum(cell["errors"] for cell in cells)
    print("\nRefused: " + (", ".join(f"{count} for {reason}" for reason, count in found.items()) or "none") + ".")
    check(not found, f"no request was refused: {found}")
    check(not errors, f"no request failed: {errors}")
    load.check_lasted(service)


def say_head(title):
    print(f"\n### {title}\n\n| sigma | connections | requests/s | p50, ms | p99, ms | p99.9, ms | errors | CPU, ms/request | "
          "busy, % | by the GPU's codecs, % | by the GPU, % |\n|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|", flush=True)


def measure(options, service, device, connections, seconds):
    cell = load.measure(options, service, device, SIGMA, connections, seconds)
    print(load.row(cell), flush=True)
    return cell


def started(options, name):
    service = Service(options, options.gpus, name, "--connections", str(2 * max(CONNECTIONS)))
    check(not load.serving(service, options.gpus, "auto"), "the GPU serves")
    return service


def fresh(options, device):
    """The first seconds of a daemon, where all slots are made at once."""
    with started(options, "crowd-fresh") as service:
        say_head(f"A fresh daemon, {MANY} connections at once, a second after the other")
        say_refusals(service, [measure(options, service, device, MANY, 1) for _ in range(4)])


def warm(options, device):
    with started(options, "crowd") as service:
        say_head("One daemon")
        cells = []
        for connections in CONNECTIONS:  # new connections have slots made for them; `fresh` measures that
            load.wrk(options, service, f"/blur?sigma={SIGMA}", options.photographs, connections, 1)
            cells.append(measure(options, service, device, connections, options.seconds))
        say_refusals(service, cells)
    few = max(cell["rate"] for cell in cells if cell["connections"] == FEW)
    for cell in cells:
        check(cell["rate"] >= LEAST * few, f"{cell['connections']} connections got {cell['rate']:.0f} answers a second, {FEW} got {few:.0f}")


def main():
    options = load.parsed(load.arguments(seconds=5))
    options.seconds = 1 if options.quick else int(options.seconds)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # of wrk and the daemon
    print(f"\n## Many connections\n\nDefault limits; {len(options.photographs)} photographs of 1920x1080, {options.origin}, in turn.")
    with host.Device() as device:
        warm(options, device)
        fresh(options, device)
    print()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
