# SPDX-License-Identifier: MIT
"""The GPU's process in its sandbox: checks that it gives the same answers there as without, under load, with
large pictures, after a fault and after its end. Prints Markdown and the lines of the log; ends with 1 when a
check failed. Standard library only.

    sandbox.py --blurd PATH --sample JPEG --out FOLDER [--seconds 6] [--quick]
"""
import argparse
import contextlib
import os
import pathlib
import re
import signal
import sys
import threading
import time

import service
from service import Service, check

TARGETS = ["/blur?sigma=1.5", "/blur?sigma=30", *service.OTHERS]
LARGE = ["/blur?sigma=5", "/blur?sigma=40", "/sharpen?sigma=3", "/pixelate?block=32"]
THREADS = 16
BODIES = ["--max-body", "100MiB"]  # the large picture is grainy


def await_answers(own):
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            return own.request("GET", "/livez")
        time.sleep(0.01)
    raise OSError("the daemon does not answer")


def by_cpu(options, bodies):
    """(target, number of the body) -> (status, X-Backend, bytes)"""
    with Service(options, "none", "sandbox-cpu", *BODIES) as own:
        await_answers(own)
        return {(target, i): own.request("POST", target, body) for i, body in enumerate(bodies)
                for target in (LARGE if i == len(bodies) - 1 else TARGETS)}


def mode(options):
    """on, or auto where this kernel lacks a part of it."""
    with Service(options, "none", "sandbox-trial", "--sandbox", "on") as own:
        time.sleep(1)
        if own.process.poll() is None:
            return "on"
    print("This kernel lacks a part of the sandbox: " + (options.out / "sandbox-trial.log").read_text(errors="replace").strip() + "\n")
    return "auto"


def closed_in(pid):
    """How many threads of a process are in its list of system calls, and how many there are."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found.append(re.search(r"^Seccomp:\s+(\d)", (task / "status").read_text(), re.M))
    return sum(bool(one) and one[1] == "2" for one in found), len(found)


def load(own, bodies, known, seconds):
    """(answers, by the GPU, wrong) of threads that ask without a pause."""
    until, counts, lock = time.monotonic() + seconds, [0, 0, 0], threading.Lock()

    def work(number):
        turn = number
        while time.monotonic() < until:
            target, i = TARGETS[turn % len(TARGETS)], turn % (len(bodies) - 1)
            turn += 1
            status, backend, result = own.request("POST", target, bodies[i])
            with lock:
                counts[0] += 1
                counts[1] += backend.startswith("cuda:")
                counts[2] += status != 503 and result != known[target, i][2]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return counts


def ends(own, options, bodies, known):
    """A fault of the device, and the end of the process, each under load; the next process is in its sandbox,
    too."""
    for number in (signal.SIGUSR1, signal.SIGKILL):
        before = own.engine()
        timer = threading.Timer(options.seconds / 6, os.kill, (before, number))
        timer.start()
        count, by_gpu, wrong = load(own, bodies, known, options.seconds / 3)
        state = own.wait_for_gpu(service.GPU_AGAIN_WITHIN_S)
        after = own.engine()
        closed, threads = closed_in(after) if after else (0, 0)
        check(wrong == 0 and state[0] == "serving" and after != before and closed == threads > 0,
              f"after {signal.Signals(number).name} another process serves: {count} answers, {by_gpu} by the GPU, {wrong} wrong; "
              f"{closed} of {threads} threads closed in")


def part(options):
    size = (130, 91) if options.quick else (1280, 800)
    large = (600, 400) if options.quick else (6000, 4000)
    bodies = [service.make_png(*size, color, 8, color) for color in (0, 2, 6)]
    bodies += [service.make_png(*size, 2, 16, 9), options.sample.read_bytes(), service.make_png(*large, 2, 8, 5)]
    known, wanted = by_cpu(options, bodies), mode(options)
    with Service(options, "all", "sandbox", "--sandbox", wanted, "--jpeg-codec", "gpu", "--gpu-pictures", "28", *BODIES,
                 level="debug") as own:
        state = own.wait_for_gpu(60)
        check(state[0] == "serving", f"a GPU serves with --sandbox {wanted}: {state[1]}")
        if state[0] != "serving":
            return
        closed, threads = closed_in(own.engine())
        check(closed == threads > 0, f"{closed} of {threads} threads of the GPU's process are closed in")
        got = {key: own.request("POST", key[0], bodies[key[1]]) for key in known}
        wrong = [key for key in known if got[key][::2] != known[key][::2]]
        by_gpu = sum(answer[1].startswith("cuda:") for answer in got.values())
        check(not wrong, f"{len(known)} answers are the CPU's, byte for byte: {wrong[:5]}")
        check(by_gpu >= len(known) * 0.9, f"{by_gpu} of them are the GPU's; the CPU's: "
              f"{[key for key in known if not got[key][1].startswith('cuda:')][:5]}")
        count, by_gpu, wrong = load(own, bodies, known, options.seconds / 3)
        check(wrong == 0 and by_gpu > 0, f"{count} answers under load, {by_gpu} by the GPU, {wrong} wrong")
        ends(own, options, bodies, known)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--blurd", required=True)
    parser.add_argument("--sample", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=9)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    part(options)
    lines = (options.out / "sandbox.log").read_text(errors="replace").splitlines()
    odd = [line for line in lines if re.search(r" engine |unregistered|does not hold|(warning|error) gpu", line)]
    print("\nWhat its log says of the engine:\n\n```", *odd[:20], "```", sep="\n")
    check(not any("unregistered" in line for line in lines), "slots are registered with the driver")
    sys.exit(1 if service.failures else 0)


if __name__ == "__main__":
    main()
