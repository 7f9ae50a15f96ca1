# SPDX-License-Identifier: MIT
"""JPEGs with regions, redaction and faces over HTTP on loopback, asked by wrk. First the answers of the GPU are compared with
the CPU's. Prints Markdown and writes FOLDER/regions.json; ends with 1 when a request failed, an answer differs, or a request
that the GPU could do from file to file went elsewhere. Standard library only.

    regions.py --blurd PATH --wrk PATH --out FOLDER --model FILE.face|none [--lua bench/rotate.lua]
               [--codec auto] [--gpus all] [--seconds 60] [--quick] PICTURE...

The pictures become photographs of 1920x1080 (see photographs.py); those with faces make sense."""
import json
import subprocess
import sys
import time

import client
import host
import load
from service import Service, check, failures, number

BOXES = "region=10%25,10%25,8%25,15%25&region=ellipse:40%25,20%25,8%25,15%25&region=ellipse:60%25,15%25,8%25,15%25&region=30%25,60%25,8%25,15%25"
FACES = "/pixelate?block=16&mode=redact&detect=faces&quality=85"
# Name -> (target, whether the GPU does all of it)
WORKS = {
    "no regions": ("/pixelate?block=16&quality=85", True),
    "no regions, standard tables": ("/pixelate?block=16&quality=85&huffman=standard", True),
    "4 regions": (f"/pixelate?block=16&quality=85&{BOXES}", True),
    "4 regions, feathered blur": (f"/blur?sigma=8&quality=85&feather=20&{BOXES}", True),
    "4 regions redacted": (f"/pixelate?block=16&mode=redact&quality=85&{BOXES}", True),
    "4 regions, blocks kept": (f"/pixelate?block=16&{BOXES}", True),
    "4 regions redacted, blocks kept": (f"/pixelate?block=16&mode=redact&{BOXES}", True),
    "faces redacted, usual size": (FACES, True),
    "faces redacted, 1920x1088": (f"{FACES}&detect_size=full", True),
    "faces redacted, 1920x1088, standard tables": (f"{FACES}&detect_size=full&huffman=standard", True),
    "faces redacted, 1920x1088, blocks kept": (f"{FACES}&detect_size=full".replace("&quality=85", ""), True),
}
CONNECTIONS = (1, 32, 64, 128)
BETWEEN_SECONDS = 0.6
START_SECONDS = 10  # of the daemon, the comparison, and one second of each work
WANTED = ("faces redacted, 1920x1088", 2000)


def compare(options, service):
    """Each work's answers with the CPU's."""
    connection = client.Connection(service.port)
    for name, (target, whole) in options.works.items():
        for path in options.photographs[:1 if options.quick else None]:
            body = path.read_bytes()
            here = connection.ask(client.message(target, body))
            there = connection.ask(client.message(f"{target}&backend=cpu", body))
            check(here[0] == there[0] == 200 and bytes(here[2]) == bytes(there[2]),
                  f"{name}, {path.name}: {here[1]} and {there[1]} give the same {len(here[2])} bytes")
            if whole:
                check(here[1].endswith("/jpeg"), f"{name}, {path.name}: {here[1]} did it from file to file")
    connection.close()


def measure(options, service, device):
    cells = []
    print("\n| work | connections | requests/s | p50, ms | p99, ms | p99.9, ms | errors | CPU, ms/request | busy, % | "
          "by the GPU's codecs, % | by the GPU, % | faces/request |\n|---|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|", flush=True)
    for name, (target, _) in options.works.items():
        load.wrk(options, service, target, options.photographs, CONNECTIONS[-1], 1)
        for connections in CONNECTIONS if not options.quick else CONNECTIONS[1:2]:
            faces = number(r"\nblurd_faces_total\S* (\d+)", load.settled_metrics(service))
            cell = load.measure(options, service, device, name, connections, options.cell_seconds, target)
            faces = number(r"\nblurd_faces_total\S* (\d+)", load.settled_metrics(service)) - faces
            cells.append({**cell, "faces": faces / max(1, cell["requests"])})
            print(f"{load.row(cell)} {cells[-1]['faces']:.2f} |", flush=True)
    return cells


def main():
    parser = load.arguments(seconds=60)
    parser.add_argument("--model", required=True)
    parser.add_argument("--codec", default="auto", help="value of --jpeg-codec")
    options = load.parsed(parser)
    options.works = {name: work for name, work in WORKS.items() if options.model != "none" or "detect=faces" not in work[0]}
    cells = len(options.works) * (1 if options.quick else len(CONNECTIONS))
    left = options.seconds - START_SECONDS - len(options.works)
    options.cell_seconds = int(max(1, min(5, left / cells - BETWEEN_SECONDS)))
    print(f"\n## Regions and faces\n\n`wrk` posts {len(options.photographs)} photographs in turn, {options.origin}. {options.cell_seconds} s for each "
          "row. Columns as in the load test.\n")
    results = []
    with host.Device() as device, Service(options, options.gpus, "regions", "--jpeg-codec", options.codec, "--face-model", options.model) as service:
        reason = load.serving(service, options.gpus, options.codec)
        check(not reason, reason or "the GPU serves")
        try:
            if not reason:
                time.sleep(0.2)
                compare(options, service)
                results = measure(options, service, device)
                print()
                load.check_lasted(service)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            check(False, f"broke off: {error!r}")
    print()
    check(not sum(cell["errors"] for cell in results), "no request failed")
    if options.model == "none":
        print("* skipped: faces, as there is no face model here; `make models` makes one")
    else:
        best = max((cell["rate"] for cell in results if cell["sigma"] == WANTED[0] and not cell["errors"]), default=0)
        print(f"\n{WANTED[0]}: at least {WANTED[1]} requests/s are wanted, {best:.0f} were measured: {'met' if best >= WANTED[1] else '**not met**'}.")
    (options.out / "regions.json").write_text(json.dumps(results, indent=1) + "\n")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
