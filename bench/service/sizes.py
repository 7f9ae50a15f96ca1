# SPDX-License-Identifier: MIT
"""JPEGs of other sizes and kinds than those of load.py, over HTTP on loopback, asked by wrk; and the first second of fresh
daemons. Prints Markdown and writes FOLDER/sizes.json; ends with 1 when a request failed. Takes Pillow, which makes the
pictures; without it nothing is measured.

    sizes.py --blurd PATH --wrk PATH --out FOLDER [--lua bench/rotate.lua] [--gpus all|none] [--seconds 60] [--quick] PICTURE...

Every row has two seconds at most; the first one of a kind of picture has a second before it that is not counted."""
import json
import subprocess
import sys

import host
import load
import photographs
from service import Service, check, failures

TARGET = "/blur?sigma=5"
REGIONS = "&region=10%25,10%25,20%25,20%25&region=60%25,50%25,20%25,30%25"
TINY, SMALL, LARGE, FULL = (100, 75), (400, 300), (4000, 3000), photographs.FULL
MIXED = 6  # one of so many is progressive
QUALITY = 90
# Name -> (size, files: "baseline", "progressive" or "mixed" JPEGs, or "png", target, numbers of connections)
WORKS = {
    "400x300": (SMALL, "baseline", TARGET, (32, 128)),
    "400x300, sigma 20": (SMALL, "baseline", "/blur?sigma=20", (128,)),
    "100x75": (TINY, "baseline", TARGET, (1, 128)),
    "12 megapixels": (LARGE, "baseline", TARGET, (8, 32)),
    "1080p, `huffman=standard`": (FULL, "baseline", f"{TARGET}&huffman=standard", (32, 128)),
    "1080p, `colorspace=rgb`": (FULL, "baseline", f"{TARGET}&colorspace=rgb", (1, 32, 128)),
    "1080p, `colorspace=linear`": (FULL, "baseline", f"{TARGET}&colorspace=linear", (128,)),
    "1080p, sharpened": (FULL, "baseline", "/sharpen?sigma=1.5", (128,)),
    "1080p, `format=png`": (FULL, "baseline", f"{TARGET}&format=png", (1, 32, 128)),
    "1080p, PNG, `format=jpeg`": (FULL, "png", f"{TARGET}&format=jpeg", (1, 32, 128)),
    "1080p, progressive": (FULL, "progressive", TARGET, (32, 128, 256)),
    "1080p, progressive, 2 regions, blocks kept": (FULL, "progressive", TARGET + REGIONS, (128,)),
    "1080p, each sixth one progressive": (FULL, "mixed", TARGET, (128,)),
}
# These left the device before its codecs took them: they are measured again with both codecs on the CPU.
COMPARED = [name for name in WORKS if any(word in name for word in ("colorspace", "sharpened", "format"))]
STARTS = 3
ROW_SECONDS = 2


def make_pictures(options, size, files):
    """Files of the photographs in that size. Of 1080p they keep their quality as well as Pillow can."""
    sources = options.photographs
    if size == FULL and files == "baseline":
        return sources
    count = MIXED if files == "mixed" else len(sources)
    made = []
    for i in range(count):
        source = sources[i % len(sources)]
        if size == FULL and files == "mixed" and i > 0:
            made.append(source)
            continue
        picture = photographs.scaled(source.read_bytes(), size)
        path = options.out / f"{size[0]}x{size[1]}-{files}-{i}"
        path.write_bytes(photographs.png(picture) if files == "png" else
                         photographs.jpeg(picture, quality=QUALITY, progressive=files != "baseline"))
        made.append(path)
    return made


def measure(options, device, seconds, codec, works):
    cells, given = [], options.photographs
    print(f"\n## Other sizes and kinds, `--jpeg-codec {codec}`\n\nSigma 5; columns as above.\n\n| work | KiB | connections | requests/s | p50, ms | p99, ms | p99.9, ms | errors | "
          "CPU, ms/request | busy, % | by the GPU's codecs, % | by the GPU, % |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|", flush=True)
    with Service(options, options.gpus, f"sizes-{codec}", "--jpeg-codec", codec) as service:
        reason = load.serving(service, options.gpus, codec)
        if reason:
            check(False, reason)
            return cells
        for name, (size, files, target, connections) in works.items():
            options.photographs = given
            options.photographs = make_pictures(options, size, files)
            sizes = sorted(path.stat().st_size >> 10 for path in options.photographs)
            load.wrk(options, service, target, options.photographs, connections[-1], 1)
            for number in connections:
                cell = load.measure(options, service, device, name, number, seconds, target, files == "mixed")
                cells.append(cell)
                columns = load.row(cell).split("|")
                print(f"| {name} | {sizes[0]} to {sizes[-1]} |{'|'.join(columns[2:])}", flush=True)
        options.photographs = given
        print()
        load.check_lasted(service)
    check(not sum(cell["errors"] for cell in cells), f"{codec}: no request failed")
    return cells


def first_seconds(options, starts):
    print("\n## The first second\n\nFresh daemons, 128 connections, sigma 5; the load begins when the GPU serves.\n\n"
          "| requests in the first second | p50, ms | p99, ms | p99.9, ms | in the second one | its p99, ms |\n|--:|--:|--:|--:|--:|--:|", flush=True)
    for _ in range(starts):
        with Service(options, options.gpus, "first") as service:
            reason = load.serving(service, options.gpus, "auto")
            check(not reason, reason or "a fresh daemon serves")
            first, second = (load.wrk(options, service, TARGET, options.photographs, 128, 1) for _ in range(2))
        print(f"| {first['requests']} | {first['p50_ms']:.1f} | {first['p99_ms']:.1f} | {first['p999_ms']:.1f} | "
              f"{second['requests']} | {second['p99_ms']:.1f} |", flush=True)
        check(not first["failed"] + second["failed"], "no request of the first seconds failed")


def main():
    options = load.parsed(load.arguments(seconds=60))
    if not photographs.Image:
        print("\nNot measured: other sizes and kinds, as Pillow is not installed.")
        return
    compared = {name: (*WORKS[name][:-1], WORKS[name][-1][-1:]) for name in COMPARED}
    rows = sum(len(connections) for *_, connections in (*WORKS.values(), *compared.values()))
    spare = options.seconds - len(WORKS) - len(compared) - 4 * STARTS
    seconds = 1 if options.quick else max(1, min(ROW_SECONDS, int(spare / rows)))
    results = {}
    with host.Device() as device:
        try:
            for codec, works in {"auto": WORKS, "cpu": compared}.items():
                results[codec] = measure(options, device, seconds, codec, works)
            first_seconds(options, 1 if options.quick else STARTS)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            check(False, f"broke off: {error!r}")
    (options.out / "sizes.json").write_text(json.dumps(results, indent=1) + "\n")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
