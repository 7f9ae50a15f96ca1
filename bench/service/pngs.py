# SPDX-License-Identifier: MIT
"""PNGs over HTTP on loopback, asked by wrk: screenshots with a place that is hidden, and photographs. Cores decode and encode PNGs, so that
they are the limit on a host with a GPU, too. Prints Markdown and writes FOLDER/pngs.json; ends with 1 when a request failed. The
photographs take Pillow; without it screenshots alone are measured.

    pngs.py --blurd PATH --wrk PATH --out FOLDER --screens FOLDER [--lua bench/rotate.lua] [--gpus all|none] [--seconds 60] [--quick] PICTURE...

--screens: what bench/screens.py draws: files *-rgb.png of 1920x1080, and *-rgba.png of 2560x1440 in its folder `large`."""
import json
import pathlib
import subprocess
import sys

import host
import load
import photographs
import sizes
from service import Service, check, failures

HIDDEN = "/pixelate?block=8&mode=redact&region=600,400,200,24"
CONNECTIONS = (1, 16, 32, 64)
COLUMNS = ("work", "KiB", "connections", "requests/s", "p50, ms", "p99, ms", "p99.9, ms", "errors", "CPU, ms/request", "by the GPU, %")


def works(options):
    """Name -> (files, target, numbers of connections)."""
    small, large = sorted(options.screens.glob("*-rgb.png")), sorted((options.screens / "large").glob("*-rgba.png"))
    chosen = {"screenshots, RGB, 1920x1080, a place redacted": (small, HIDDEN, CONNECTIONS),
              "the same, a blur of the place": (small, "/blur?sigma=8&region=600,400,200,24", CONNECTIONS[2:3]),
              "screenshots, RGBA, 2560x1440, a place redacted": (large, HIDDEN, CONNECTIONS[::2])}
    if photographs.Image:
        given = sizes.make_pictures(options, photographs.FULL, "png")
        chosen |= {"photographs, 1920x1080, blurred": (given, sizes.TARGET, CONNECTIONS[2:]),
                   "photographs, 1920x1080, blurred, as JPEG": (given, f"{sizes.TARGET}&format=jpeg", CONNECTIONS[2:])}
    return chosen


def measure(options, device, seconds):
    cells = []
    with Service(options, options.gpus, "pngs") as service:
        reason = load.serving(service, options.gpus, "auto")
        if reason:
            check(False, reason)
            return cells
        for name, (files, target, connections) in works(options).items():
            kib = sorted(path.stat().st_size >> 10 for path in files)
            options.photographs = files
            load.wrk(options, service, target, files, connections[-1], 1)
            for number in connections:
                cell = load.measure(options, service, device, name, number, seconds, target)
                cells.append(cell)
                cpu = "-" if cell["cpu_ms"] is None else f"{cell['cpu_ms']:.2f}"
                print(f"| {name} | {kib[0]} to {kib[-1]} | {number} | {cell['rate']:.0f} | {cell['p50']:.2f} | {cell['p99']:.2f} | {cell['p999']:.2f} | "
                      f"{cell['errors']} | {cpu} | {cell['by_gpu']:.1f} |", flush=True)
        print()
        load.check_lasted(service)
    check(not sum(cell["errors"] for cell in cells), "no request failed")
    return cells


def main():
    parser = load.arguments(seconds=60)
    parser.add_argument("--screens", required=True, type=pathlib.Path)
    options = load.parsed(parser)
    print("\n## PNGs\n\nPNG to PNG where nothing else is said. CPU: user and system time of the daemon and of all its children; `wrk` runs beside them "
          f"and is not counted.\n\n| {' | '.join(COLUMNS)} |\n|---|{'--:|' * (len(COLUMNS) - 1)}", flush=True)
    seconds = 1 if options.quick else max(1, int(options.seconds / 15))
    cells = []
    with host.Device() as device:
        try:
            cells = measure(options, device, seconds)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            check(False, f"broke off: {error!r}")
    (options.out / "pngs.json").write_text(json.dumps(cells, indent=1) + "\n")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
