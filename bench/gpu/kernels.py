# SPDX-License-Identifier: MIT
"""What each kernel of JPEG to JPEG takes, by NVIDIA's profiler: time, instructions of a warp, bytes through the second-level
cache and through memory, and how many of the warps that a multiprocessor can hold were active. `blurd-bench profile` runs
each kind of work on each photograph alone; a row has the mean of a photograph. Prints Markdown; ends with 1 when the
profiler saw more or fewer pictures than there were. Standard library only.

    PICTURES=FOLDER kernels.py --bench PATH [--ncu ncu] [--out FILE]"""
import argparse
import collections
import csv
import itertools
import pathlib
import re
import subprocess
import sys

METRICS = {"gpu__time_duration.sum": "time", "smsp__inst_executed.sum": "instructions", "lts__t_bytes.sum": "cache",
           "dram__bytes.sum": "memory", "sm__warps_active.avg.pct_of_peak_sustained_active": "active",
           "launch__registers_per_thread": "registers"}
UNITS = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3,
         "byte": 1e-6, "Kbyte": 1e-3, "Mbyte": 1, "Gbyte": 1e3}  # to microseconds, and to megabytes
FIRST = ("huffman_sync", "read_scans")  # the kernels that a picture begins with
WORK = re.compile(r"(.*?)(, (?:optimal|standard) codes)?: \d+ bytes$")


def launches_of(lines):
    """[{"kernel": name, "time": microseconds, ...}, ...] of the profiler's CSV, which has a line for each metric."""
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID",')), len(lines))
    launches = collections.defaultdict(dict)
    for row in csv.DictReader(lines[begin:]):
        launch = launches[int(row["ID"])]
        launch["kernel"] = row["Kernel Name"].split("(")[0]
        value = float(row["Metric Value"].replace(",", ""))
        launch[METRICS[row["Metric Name"]]] = value * UNITS.get(row["Metric Unit"], 1)
    return [launches[number] for number in sorted(launches)]


def pictures_of(launches):
    """The launches of each picture."""
    pictures = []
    for launch in launches:
        if launch["kernel"] in FIRST or not pictures:
            pictures.append([])
        pictures[-1].append(launch)
    return pictures


def works_of(lines):
    """{work: the launches of each of its pictures}, and whether there are as many pictures as lines about them."""
    works, pictures = collections.defaultdict(list), pictures_of(launches_of(lines))
    found = [work for work in map(WORK.match, lines) if work]
    for work, launches in zip(found, pictures):
        works[work.group(1) + (work.group(2) or "").replace(", optimal codes", "")].append(launches)
    return works, len(found) == len(pictures) > 0


def table(pictures):
    kernels = collections.defaultdict(list)
    for launch in itertools.chain.from_iterable(pictures):
        kernels[launch["kernel"]].append(launch)
    print("| kernel | launches | µs | millions of instructions | MB of L2 | MB of memory | warps active, % | registers |\n"
          "|---|--:|--:|--:|--:|--:|--:|--:|")
    total = collections.Counter()
    for name, found in sorted(kernels.items(), key=lambda item: -sum(launch["time"] for launch in item[1])):
        mean = collections.Counter()
        for launch in found:
            for key in ("time", "instructions", "cache", "memory"):
                mean[key] += launch[key] / len(pictures)
            mean["launches"] += 1 / len(pictures)
            mean["active"] += launch["active"] * launch["time"] / sum(other["time"] for other in found)
        total.update(mean)
        print(f"| {name} | {mean['launches']:g} | {mean['time']:.1f} | {mean['instructions'] / 1e6:.2f} | {mean['cache']:.1f} | "
              f"{mean['memory']:.1f} | {mean['active']:.0f} | {max(launch['registers'] for launch in found):.0f} |")
    print(f"| all | {total['launches']:g} | {total['time']:.1f} | {total['instructions'] / 1e6:.2f} | {total['cache']:.1f} | "
          f"{total['memory']:.1f} | | |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", required=True, help="the program blurd-bench")
    parser.add_argument("--ncu", default="ncu", help="the profiler, Nsight Compute's command line")
    parser.add_argument("--out", type=pathlib.Path, help="a file for all that the profiler prints")
    options = parser.parse_args()
    run = subprocess.run([options.ncu, "--csv", "--clock-control", "none", "--cache-control", "none",
                          "--print-kernel-base", "function", "--metrics", ",".join(METRICS), options.bench, "profile"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if options.out:
        options.out.write_text(run.stdout)
    works, complete = works_of(run.stdout.splitlines())
    for work, pictures in works.items():
        print(f"\n### {work}\n")
        table(pictures)
    if run.returncode or not complete:
        sys.exit(f"kernels.py: {options.ncu} ended with {run.returncode}, and saw {'each picture' if complete else 'more or fewer pictures than there were'}")


if __name__ == "__main__":
    main()
