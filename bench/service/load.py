# SPDX-License-Identifier: MIT
"""The load test: JPEG in, JPEG out over HTTP on loopback, asked by wrk. Prints Markdown and writes FOLDER/load.json;
ends with 1 when a request failed. Standard library only.

    load.py --blurd PATH --wrk PATH --out FOLDER [--lua bench/rotate.lua] [--codecs auto,gpu,cpu] [--every-sigma]
            [--gpus all|none] [--seconds 200] [--quick] PICTURE...

Each codec is a value of --jpeg-codec; `default` leaves the option out. The first one is measured at all sigmas and
resizes, the others at one, or at all with --every-sigma. --seconds: for everything together; the cells take what there is, 1 to 5 s
each. Several different photographs of 1920x1080 are sent in turn (see photographs.py)."""
import argparse
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import client
import host
import photographs
from service import Service, check, failures, number

SIGMAS = (1.5, 5, 20, 100)
RESIZES = {"to 400 wide": "/resize?width=400"}
WORKS = (*SIGMAS, *RESIZES)  # blurs by their sigma, and the others
CONNECTIONS = (1, 8, 32, 128)
ALONE_SIGMA = 5
ALONE_REQUESTS = 500
ALONE_SECONDS = 6
WARM_CONNECTIONS = CONNECTIONS[-1]
START_SECONDS = 4  # of a daemon with its GPU, its end included
BETWEEN_SECONDS = 0.4  # for wrk to start, and for the requests that it leaves unanswered
LONGEST_CELL = 5
BY_CODECS = ("gpu-file", "gpu-scans", "gpu-coefficients", "gpu-decode", "gpu-encode")
WANTED = {"rate": 20000, "p99": 15, "alone": 0.9, "cpu": 0.22}


# --- the daemon -------------------------------------------------------------------------
def serving(service, gpus, codec):
    """Waits until requests go where they should go; a reason when they do not."""
    places = gpus != "none" and codec in ("auto", "gpu")
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if service.process.poll() is not None:
            return f"the daemon ended with {service.process.returncode}"
        with contextlib.suppress(OSError):
            backends = service.backends()
            ready = gpus == "none" or backends.get("cuda", ("",))[0] == "serving"
            if ready and (not places or number(r"\nblurd_jpeg_places (\d+)", service.metrics()) > 0):
                return ""
        time.sleep(0.01)
    return "no GPU serves after 20 s"


def check_lasted(service):
    """The GPU's process did not end. No request is lost by that, so nothing else in a table tells."""
    log = pathlib.Path(service.log.name).read_text(errors="replace")
    reasons = re.findall(r'message="(ending after: .*?|the engine ended)"', log)
    check(not reasons, "the GPU's process lasted" + "".join(f"; {reason}" for reason in reasons))


def requests_done(metrics):
    """(status, reason, backend) -> number of requests."""
    pattern = r'^blurd_requests_total\{operation="(?:blur|resize|pixelate|sharpen)".*status="(\d+)",reason="([^"]*)",backend="([^"]*)"\} (\d+)'
    done = {}
    for *kind, count in re.findall(pattern, metrics, re.M):
        done[tuple(kind)] = done.get(tuple(kind), 0) + int(count)
    return done


def pictures(metrics):
    """way -> number of pictures."""
    return {way: int(count) for way, count in re.findall(r'^blurd_pictures_total\{way="([^"]*)"\} (\d+)', metrics, re.M)}


def settled_metrics(service):
    """The metrics after all requests have ended: wrk leaves one in progress on each connection."""
    until = time.monotonic() + 10
    while True:
        metrics = service.metrics()
        if number(r"\nblurd_requests_in_flight (\d+)", metrics) <= 1 or time.monotonic() > until:
            return metrics
        time.sleep(0.01)


def minus(after, before):
    return {key: count - before.get(key, 0) for key, count in after.items() if count != before.get(key, 0)}


def target_of(work):
    return RESIZES.get(work) or f"/blur?sigma={work}"


# --- cells ------------------------------------------------------------------------------
def wrk(options, service, target, files, connections, seconds, in_turn=False):
    """The report that bench/rotate.lua prints at its end. Where there are as many threads as pictures, a thread has one,
    unless all threads shall send them in turn: pictures that take longer than others would be sent less often."""
    threads = min(connections, options.wrk_threads)
    done = subprocess.run(
        [options.wrk, f"-t{threads}", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s",
         "-s", options.lua, f"http://127.0.0.1:{service.port}{target}", "--", *map(str, files)],
        env=os.environ | ({"ONE_EACH": "1"} if threads >= len(files) and not in_turn else {}),
        capture_output=True, text=True, timeout=seconds + 40, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(options, service, device, work, connections, seconds, target=None, in_turn=False):
    """A cell of the table as a dict. `target` is that of a work that is not in WORKS; `in_turn` as of wrk()."""
    pids = host.family(service.process.pid)
    before, cpu = settled_metrics(service), host.cpu_seconds(pids)
    begin = time.monotonic()
    seen = wrk(options, service, target or target_of(work), options.photographs, connections, seconds, in_turn)
    end = time.monotonic()
    after = settled_metrics(service)
    done = minus(requests_done(after), requests_done(before))
    codecs = sum(minus(pictures(after), pictures(before)).get(way, 0) for way in BY_CODECS)
    cpu = host.cpu_seconds(pids) - cpu if host.family(service.process.pid) == pids else None
    left = sum(count for (_, reason, _), count in done.items() if reason == "cancelled")
    refused = sum(count for (status, reason, _), count in done.items() if status != "200" and reason != "cancelled")
    worked = sum(count for (_, _, backend), count in done.items() if backend != "none")
    gpu = sum(count for (_, _, backend), count in done.items() if backend.startswith("cuda"))
    return {"sigma": work, "connections": connections, "requests": seen["requests"],
            "rate": seen["requests"] / seen["seconds"], "p50": seen["p50_ms"], "p99": seen["p99_ms"],
            "p999": seen["p999_ms"], "errors": max(seen["failed"], refused) + max(0, left - connections),
            "cpu_ms": cpu * 1000 / worked if cpu is not None and worked else None,
            "busy": device.busy(begin, end), "by_codecs": 100 * codecs / max(1, worked),
            "by_gpu": 100 * gpu / max(1, worked)}


def row(cell):
    busy = ", ".join(f"{name} {percent:.0f}" for name, percent in cell["busy"].items()) or "-"
    cpu = "-" if cell["cpu_ms"] is None else f"{cell['cpu_ms']:.2f}"  # the GPU's process ended meanwhile
    return (f"| {cell['sigma']} | {cell['connections']} | {cell['rate']:.0f} | {cell['p50']:.2f} | {cell['p99']:.2f} | "
            f"{cell['p999']:.2f} | {cell['errors']} | {cpu} | {busy} | "
            f"{cell['by_codecs']:.1f} | {cell['by_gpu']:.1f} |")


def alone(options, service):
    """(sorted milliseconds of sequential requests over one connection, errors)."""
    messages = [client.message(f"/blur?sigma={ALONE_SIGMA}", path.read_bytes()) for path in options.photographs]
    connection, took, wrong, backends = client.Connection(service.port), [], 0, {}
    until = time.monotonic() + ALONE_SECONDS
    while len(took) < ALONE_REQUESTS and time.monotonic() < until:
        begin = time.perf_counter()
        status, backend, _ = connection.ask(messages[len(took) % len(messages)])
        took.append((time.perf_counter() - begin) * 1000)
        wrong += status != 200
        backends[backend] = backends.get(backend, 0) + 1
    connection.close()
    return sorted(took[len(messages):] or took), wrong, backends


# --- a codec after the other -----------------------------------------------------------
def jpeg_counters(metrics):
    """name -> value: the daemon's metrics of JPEGs, and its pictures by way."""
    lines = [line.rsplit(" ", 1) for line in metrics.splitlines() if line.startswith(("blurd_jpeg", "blurd_pictures"))]
    return {name: float(value) for name, value in lines}


def measure_codec(options, device, codec, works, seconds):
    print(f"\n### `--jpeg-codec {codec}`\n" if codec != "default" else "\n### Without `--jpeg-codec`\n")
    extra = [] if codec == "default" else ["--jpeg-codec", codec]
    cells = []
    with Service(options, options.gpus, f"load-{codec}", *extra) as service:
        reason = serving(service, options.gpus, codec)
        if reason:
            check(False, f"{codec}: {reason}")
            return {"cells": [], "alone": None}
        print("| sigma, or resize | connections | requests/s | p50, ms | p99, ms | p99.9, ms | errors | CPU, ms/request | busy, % | "
              "by the GPU's codecs, % | by the GPU, % |\n|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|", flush=True)
        first, refused = None, 0
        for work in works:
            seen = wrk(options, service, target_of(work), options.photographs, WARM_CONNECTIONS, 1)
            first, refused = first or seen, refused + seen["failed"]
            for connections in CONNECTIONS:
                cells.append(measure(options, service, device, work, connections, seconds))
                print(row(cells[-1]), flush=True)
        took, wrong, backends = alone(options, service)
        counters = jpeg_counters(service.metrics())
    by = ", ".join(f"{count} {name}" for name, count in sorted(backends.items()))
    print(f"\nNot in the table, the first second of a fresh daemon, {WARM_CONNECTIONS} connections: {first['requests']} requests, "
          f"p50 {first['p50_ms']:.1f} ms, p99 {first['p99_ms']:.0f} ms.")
    median, slow = statistics.median(took), took[int(len(took) * 0.99)]
    print(f"\nAlone, sigma {ALONE_SIGMA}, {len(took)} requests one after the other: p50 {median:.2f} ms, p99 {slow:.2f} ms "
          f"({by}).")
    if counters:
        print("\nThe daemon's counters: " + ", ".join(f"`{name}` {value:g}" for name, value in counters.items()) + ".")
    print()
    check_lasted(service)
    check(not wrong + refused + sum(cell["errors"] for cell in cells), f"{codec}: no request failed")
    return {"cells": cells, "alone": median}


def goals(codec, result):
    """Prints the goals next to the measurements. A missed goal is no failure, as it depends on the
    machine."""
    print(f"\n### What is wanted (`{codec}`)\n\n| | wanted | measured | |\n|---|--:|--:|---|")

    def line(what, wanted, value, met):
        print(f"| {what} | {wanted} | {value} | {'met' if met else '**not met**'} |")

    for work in dict.fromkeys(cell["sigma"] for cell in result["cells"]):
        best = max((cell for cell in result["cells"] if cell["sigma"] == work), key=lambda cell: cell["rate"])
        name = f"{'' if work in RESIZES else 'sigma '}{work}, {best['connections']} connections"
        line(f"requests/s, {name}", f"at least {WANTED['rate']}", f"{best['rate']:.0f}", best["rate"] >= WANTED["rate"])
        line(f"p99, ms, {name}", f"below {WANTED['p99']}", f"{best['p99']:.1f}", best["p99"] < WANTED["p99"])
        if best["cpu_ms"] is not None:
            line(f"CPU, ms, {name}", f"at most {WANTED['cpu']}", f"{best['cpu_ms']:.2f}", best["cpu_ms"] <= WANTED["cpu"])
    line("alone: p50, ms", f"at most {WANTED['alone']}", f"{result['alone']:.2f}", result["alone"] <= WANTED["alone"])


def cell_seconds(options, codecs):
    """Whole seconds of a cell, as wrk takes no others."""
    works = sum(len(each) for each in codecs.values())
    left = options.seconds - len(codecs) * (START_SECONDS + ALONE_SECONDS) - works
    cells = works * len(CONNECTIONS)
    return int(min(LONGEST_CELL, max(1, left / cells - BETWEEN_SECONDS)))


def arguments(seconds):
    """A parser of what all tests by wrk take; `seconds` is a default."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--blurd", required=True)
    parser.add_argument("--wrk", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--lua", default="bench/rotate.lua")
    parser.add_argument("--gpus", default="all")
    parser.add_argument("--seconds", type=float, default=seconds)
    parser.add_argument("--wrk-threads", type=int, default=8)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("pictures", nargs="+", type=pathlib.Path)
    return parser


def parsed(parser):
    """The arguments, the `photographs` that are sent, and their `origin` in words. Makes the folder."""
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    options.photographs, options.origin = photographs.full_hd(options.pictures, options.out / "photographs")
    if not options.photographs:
        parser.error("none of the pictures is a JPEG that can be sent")
    return options


def main():
    parser = arguments(seconds=200)
    parser.add_argument("--codecs", default="auto,gpu,cpu")
    parser.add_argument("--every-sigma", action="store_true")
    options = parsed(parser)
    few = SIGMAS[1:2]
    first, *others = options.codecs.split(",")
    codecs = {first: (*few, *RESIZES) if options.quick else WORKS}
    codecs.update({codec: WORKS if options.every_sigma else few for codec in others})
    seconds = 1 if options.quick else cell_seconds(options, codecs)
    sizes = [path.stat().st_size >> 10 for path in options.photographs]
    print(f"\n## Load\n\n`wrk` posts {len(sizes)} photographs of 1920x1080, {options.origin}: {min(sizes)} to "
          f"{max(sizes)} KiB. {seconds} s for each row.\nCPU: user and system time of the daemon and of all its children, for each request; `wrk` "
          "runs beside them and is not counted.")
    results = {}
    with host.Device() as device:
        if not device.fields:
            print("\nThere is no `nvidia-smi`: how busy the GPU is remains unknown.")
        for codec, works in codecs.items():
            try:
                results[codec] = measure_codec(options, device, codec, works, seconds)
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                check(False, f"{codec} broke off: {error!r}")
                results[codec] = {"cells": [], "alone": None}
    if results[first]["cells"]:
        goals(first, results[first])
    (options.out / "load.json").write_text(json.dumps(results, indent=1) + "\n")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
