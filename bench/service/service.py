# SPDX-License-Identifier: MIT
"""The service with a GPU: how fast it starts, whether its pixels are the CPU's, and whether a
request is lost when the GPU's process faults, hangs or is killed under load. Prints Markdown;
ends with 1 when a check failed. Standard library only.

    service.py --blurd PATH --sample JPEG --out FOLDER [--wrk PATH] [--lua bench/post.lua] [--quick]
               [PICTURE...]
"""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import random
import re
import signal
import socket
import statistics
import struct
import subprocess
import sys
import time
import zlib

STARTS = 5
FIRST_WITHIN_MS = 20
GPU_WITHIN_MS = 750  # with 24 connections to the GPU, see docs/adr/0019
GPU_AGAIN_WITHIN_S = 15

failures = []


def check(holds, text):
    print(f"* {'ok' if holds else '**FAILED**'}: {text}", flush=True)
    if not holds:
        failures.append(text)


# --- pictures ---------------------------------------------------------------------------
def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def make_png(width, height, color, depth, seed):
    """Waves, edges and grain; `color` as in PNG: 0 grey, 2 RGB, 4 grey and alpha, 6 RGBA."""
    noise = random.Random(seed)
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[color]
    rows = bytearray()
    for y in range(height):
        rows.append(0)
        grain = noise.randbytes(width * channels * depth // 8)
        for i, byte in enumerate(grain):
            x = i // (channels * depth // 8)
            rows.append((byte % 32 + x * 160 // width + 60 * ((x // 37 + y // 29) % 2)) % 256)
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(rows), 1)) +
            chunk(b"IEND", b""))


# --- the service ------------------------------------------------------------------------
def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Service:
    def __init__(self, options, gpus, name, *more, level="warning"):
        self.port = free_port()
        self.log = open(options.out / f"{name}.log", "wb")
        arguments = [options.blurd, "--listen", "127.0.0.1", "--port", str(self.port), "--gpus", gpus,
                     "--log-level", level, *more]
        self.began = time.monotonic()
        self.process = subprocess.Popen(arguments, stdout=self.log, stderr=self.log)

    def request(self, method, target, body=None, timeout=70):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, target, body)
            answer = connection.getresponse()
            return answer.status, answer.headers.get("X-Backend", ""), answer.read()
        finally:
            connection.close()

    def blur(self, body, query):
        return self.request("POST", "/blur?" + query, body)

    def metrics(self):
        return self.request("GET", "/metrics")[2].decode()

    def backends(self):
        """name -> (state, reason)"""
        ready = json.loads(self.request("GET", "/readyz")[2])
        return {entry["name"]: (entry["state"], entry["reason"]) for entry in ready["backends"]}

    def wait_for_gpu(self, seconds):
        until = time.monotonic() + seconds
        state = ("absent", "")
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                state = self.backends().get("cuda", state)
                if state[0] == "serving":
                    return state
            time.sleep(0.002)
        return state

    def engine(self):
        """The engine process. A spawner starts it, which a keeper starts, the daemon's child."""
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    stat = (entry / "stat").read_text()
                    name, rest = stat[stat.index("(") + 1:stat.rindex(")")], stat[stat.rindex(")") + 2:].split()
                    found[int(entry.name)] = name, rest[0], int(rest[1])
        for pid, (name, state, _) in found.items():
            above = pid
            for _ in range(3):
                above = found.get(above, (0, 0, 0))[2]
            if name == "blurd-engine" and state != "Z" and above == self.process.pid:
                return pid
        return None

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


# --- the parts --------------------------------------------------------------------------
def first_answers(options, body, number):
    """Milliseconds from exec to the first answer, its backend, and to the first from a GPU."""
    with Service(options, "all", f"start-{number}") as service:
        first = backend = None
        while time.monotonic() - service.began < 20:
            try:
                status, backend_now, _ = service.blur(body, "sigma=2")
            except OSError:
                time.sleep(0.0005)
                continue
            took = (time.monotonic() - service.began) * 1000
            if status == 200 and first is None:
                first, backend = took, backend_now
            if backend_now.startswith("cuda:"):
                return first, backend, took, service.backends()["cuda"][1]
            time.sleep(0.001)
        return first, backend, None, str(service.backends())


def part_start(options):
    print("\n## Start of the service\n\nFrom exec of the daemon to the end of an answer to a picture of 64x48, asked for "
          "again and again.\n")
    body = make_png(64, 48, 2, 8, 1)
    print("| start | first answer, ms | from | first from a GPU, ms | what the GPU's process says |\n|--:|--:|---|--:|---|")
    rows = [first_answers(options, body, i) for i in range(STARTS)]
    for i, (first, backend, gpu, reason) in enumerate(rows):
        print(f"| {i + 1} | {first or -1:.1f} | {backend} | {f'{gpu:.0f}' if gpu else 'never'} | {reason} |")
    print()
    check(all(backend and backend.startswith("cpu/") for _, backend, _, _ in rows), "the CPU answers first")
    gpus = [gpu for _, _, gpu, _ in rows]
    median = statistics.median(gpu or 1e9 for gpu in gpus)
    check(median <= GPU_WITHIN_MS, f"a GPU answers within {GPU_WITHIN_MS} ms of exec: median {median:.0f} ms")
    firsts = statistics.median(first or 1e9 for first, _, _, _ in rows)
    check(firsts <= FIRST_WITHIN_MS, f"the first answer comes within {FIRST_WITHIN_MS} ms of exec: median {firsts:.1f} ms")


# Each endpoint, and the parameters that all of them take.
BLURS = ["/blur?sigma=0.6", "/blur?sigma=1.5", "/blur?sigma=1.5&kernel_size=7", "/blur?sigma=4&edge=mirror",
         "/blur?sigma=6&edge=wrap", "/blur?sigma=20&edge=zero", "/blur?sigma=100"]
REGION = "region=10%25,15%25,40%25,50%25&region=ellipse:40%25,30%25,55%25,65%25"
OTHERS = ["/sharpen?sigma=1.5&amount=0.8", "/sharpen?sigma=9&amount=2&threshold=3&edge=mirror",
          "/convolve?preset=edge&edge=frame", "/convolve?preset=emboss&bias=20", "/convolve?preset=box&size=7&edge=wrap",
          "/convolve?kernel=1,2,0,-1,3;0,1,5,1,0;2,-2,4,-2,2;0,1,-3,1,0;1,0,1,0,1&edge=zero", "/pixelate?block=7",
          "/pixelate?block=64", "/resize?width=50", "/resize?width=90&height=120&fit=cover&kernel=area&gravity=0.2,0.9",
          "/resize?width=220&height=200&fit=contain&kernel=mitchell&enlarge=true&background=80a0ff80",
          "/pipeline?ops=blur:sigma=2|resize:scale=0.4|sharpen", "/stats?", "/stats?" + REGION,
          "/pipeline?ops=blur:sigma=2|sharpen:amount=1.5|convolve:preset=emboss|pixelate:block=5",
          "/blur?sigma=12&feather=20&" + REGION, "/pixelate?block=16&invert=1&" + REGION,
          "/sharpen?sigma=2&" + REGION, "/pipeline?ops=blur:sigma=5|sharpen:amount=1&" + REGION,
          "/blur?sigma=5&mode=redact&" + REGION, "/blur?sigma=8&colorspace=linear"]


def subjects(options):
    """name, body, targets"""
    size = (130, 91) if options.quick else (641, 487)
    blurs, others = (BLURS[:2], OTHERS) if options.quick else (BLURS, OTHERS)
    for color in (0, 2, 4, 6):
        for depth in (8, 16):
            yield f"PNG colour type {color}, {depth} bits", make_png(*size, color, depth, color + depth), blurs + others
    if not options.quick:
        yield "PNG 1920x1080", make_png(1920, 1080, 2, 8, 7), blurs + others
    yield "JPEG", options.sample.read_bytes(), blurs if options.quick else blurs + others
    for path in options.pictures:
        yield path.name, path.read_bytes(), blurs[1:6:2] + others


def part_pixels(options):
    print("\n## Pixels over HTTP\n")
    same = from_gpu = cases = 0
    patience = ["--gpu-timeout", "30s", "--work-timeout", "60s"] if options.quick else []  # for GPUs that are none
    with Service(options, "all", "pixels-gpu", *patience) as gpu, Service(options, "none", "pixels-cpu") as cpu:
        state = gpu.wait_for_gpu(20)
        check(state[0] == "serving", f"the GPU serves: {state[1]}")
        cpu.wait_for_gpu(0.2)
        for name, body, targets in subjects(options):
            for target in targets:
                tail = "" if "/stats" in target else "&format=png&effort=0"
                ours, theirs = (service.request("POST", target + tail, body) for service in (gpu, cpu))
                cases += 1
                equal = ours[0] == theirs[0] == 200 and ours[2] == theirs[2]
                same += equal
                from_gpu += ours[1].startswith("cuda:")
                if not equal:
                    print(f"* differs: {name}, {target}: {ours[:2]}, {theirs[:2]}")
    pictures = f", {len(options.pictures)} photographs among the pictures" if options.pictures else ""
    check(from_gpu == cases, f"{from_gpu} of {cases} answers of all endpoints came from a GPU{pictures}")
    check(same == cases, f"{same} of {cases} answers are those of `--gpus none`, byte for byte")


class Load:
    """Runs wrk while the caller continues."""

    def __init__(self, options, service, seconds, name, picture, expected):
        self.path = options.out / f"wrk-{name}.txt"
        self.output = open(self.path, "wb")
        threads = min(4, os.cpu_count() or 2)
        self.seconds = seconds
        self.process = subprocess.Popen(
            [options.wrk, f"-t{threads}", f"-c{options.connections}", f"-d{seconds}s", "--timeout", "20s",
             "-s", options.lua, f"http://127.0.0.1:{service.port}/blur?sigma=8", "--",
             str(picture), str(expected)], stdout=self.output, stderr=subprocess.STDOUT)

    def finish(self):
        try:
            self.process.wait(self.seconds + 40)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.output.close()
        return self.path.read_text(errors="replace")


def number(pattern, text, missing=0.0):
    found = re.search(pattern, text)
    return float(found.group(1)) if found else missing


def lost(text):
    """The errors that wrk reports; empty when no request was lost."""
    complaints = re.findall(r"(?:Socket errors|Non-2xx).*", text)
    for kind in ("another status than 200", "other bytes than expected"):
        count = number(r'Answers with ' + kind + r': (\d+)', text, -1)
        if count != 0:
            complaints.append(f"answers with {kind}: {count:.0f}")
    if number(r"(\d+) requests in", text) == 0:
        complaints.append("no request was answered")
    return "; ".join(complaints)


def backends_of(text):
    return ", ".join(f"{count} {name}" for name, count in sorted(re.findall(r"Answers from (\S+): (\d+)", text)))


def disturb(service, signals):
    """Sends each signal to the engine of the moment; milliseconds until a GPU served again after each."""
    again = []
    for name in signals:
        time.sleep(1.5)
        pid = service.engine()
        if pid is None:
            again.append(None)
            continue
        began = time.monotonic()
        os.kill(pid, getattr(signal, "SIG" + name))
        # Wait for the new process first: /readyz is about the new one only then.
        while service.engine() in (None, pid) and time.monotonic() - began < GPU_AGAIN_WITHIN_S:
            time.sleep(0.002)
        served = service.engine() not in (None, pid) and service.wait_for_gpu(GPU_AGAIN_WITHIN_S)[0] == "serving"
        again.append((time.monotonic() - began) * 1000 if served else None)
    return again


def bad_requests(metrics, connections):
    """Requests without a 200, except those that wrk leaves unanswered at its end, one a connection."""
    lines = re.findall(r'^blurd_requests_total\{operation="blur".*', metrics, re.M)
    left = sum(int(line.split()[-1]) for line in lines if 'reason="cancelled"' in line)
    bad = [line for line in lines if 'status="200"' not in line and 'reason="cancelled"' not in line]
    return bad + ([f"{left} cancelled"] if left > connections else [])


def load_round(options, subject, name, gpus, signals, seconds):
    """`subject`: value of --jpeg-codec, the picture, the expected answer."""
    codec, picture, expected = subject
    places = ["--gpu-pictures", "4"] if options.quick else []  # GPUs that are none have no device files
    with Service(options, gpus, f"load-{name}", "--jpeg-codec", codec, *places) as service:
        if gpus == "none":
            while service.process.poll() is None:
                with contextlib.suppress(OSError):
                    service.request("GET", "/livez")
                    break
        elif service.wait_for_gpu(20)[0] != "serving":
            check(False, f"{name}: the GPU serves before the load begins")
            return
        load = Load(options, service, seconds, name, picture, expected)
        again = disturb(service, signals)
        text = load.finish()
        backend = service.blur(picture.read_bytes(), "sigma=8")[1]
        metrics = service.metrics()
        (options.out / f"metrics-{name}.txt").write_text(metrics)
    returns = ", ".join(f"{sent} {ms:.0f}" if ms else f"{sent} never" for sent, ms in zip(signals, again))
    total, rate = number(r"(\d+) requests in", text), number(r"Requests/sec: +([\d.]+)", text)
    half, most, longest = (number(pattern + r" ([\d.]+)", text) for pattern in ("Latency p50", "p99", "max"))
    failed = number(r"blurd_backend_failures_total (\d+)", metrics)
    print(f"| {name} | {total:.0f} | {rate:.0f} | {half:.1f} | {most:.1f} | {longest:.0f} | {backends_of(text)} | "
          f"{failed:.0f} | {returns or '-'} |", flush=True)
    ends = (options.out / f"load-{name}.log").read_text().count('"the engine ended"')
    return name, gpus, signals, again, ends, lost(text), bad_requests(metrics, options.connections), backend


def subject_of(options, codec, picture):
    expected = options.out / f"expected-{codec}-{picture.stem}"
    with Service(options, "none", expected.name) as service:
        service.wait_for_gpu(0.5)
        expected.write_bytes(service.blur(picture.read_bytes(), "sigma=8")[2])
    return codec, picture, expected


def part_load(options):
    print("\n## Faults under load\n")
    if not options.wrk:
        check(False, "there is no wrk: not tried")
        return
    pixels = options.sample
    if options.quick:  # for GPUs that are none
        pixels = options.out / "sample.png"
        pixels.write_bytes(make_png(64, 48, 2, 8, 3))
    photographs = [path for path in options.pictures if path.suffix == ".jpg" and not options.quick]
    jpeg = (photographs or [options.sample])[0]
    pixels, jpeg = subject_of(options, "cpu", pixels), subject_of(options, "gpu", jpeg)
    print(f"`wrk` posts {pixels[1].name}, and {jpeg[1].name} in the rounds of JPEGs on the GPU from file to file, over "
          f"{options.connections} connections; USR1 makes a kernel fault, KILL ends the GPU's "
          "process, STOP makes it hang.\nTwo in each round, as a third one within five minutes would make the service wait a "
          "minute.\n")
    print("| round | requests | per second | p50, ms | p99, ms | max, ms | answers from | repeated on the CPU | "
          "GPU serves again after, ms |\n|---|--:|--:|--:|--:|--:|---|--:|---|")
    brief = 3 if options.quick else 6
    rounds = [("", [], brief), ("fault", ["USR1", "USR1"], brief + 4), ("kill", ["KILL", "KILL"], brief + 4),
              ("mixed", ["USR1", "KILL"], brief + 4), ("hang", ["STOP", "KILL"], brief + 8)]
    outcomes = [load_round(options, pixels, "cpu", "none", [], brief)]
    outcomes += [load_round(options, subject, f"{name} {kind}".strip(), "all", signals, seconds)
                 for name, subject in (("gpu", pixels), ("jpeg", jpeg)) for kind, signals, seconds in rounds]
    print()
    for outcome in filter(None, outcomes):
        name, gpus, signals, again, ends, complaints, bad, backend = outcome
        check(not complaints, f"{name}: no request is lost{': ' + complaints if complaints else ', every body as expected'}")
        check(not bad, f"{name}: the service counts nothing but 200{': ' + '; '.join(bad) if bad else ''}")
        if signals:
            check(all(again), f"{name}: a GPU serves again after each of {len(signals)}")
            check(ends == len(signals), f"{name}: the GPU's process ended {ends} times")
        if gpus != "none":
            way = backend.startswith("cuda:") and backend.endswith("/jpeg") == name.startswith("jpeg")
            check(way, f"{name}: the last answer comes from {backend}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--blurd", required=True)
    parser.add_argument("--sample", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--wrk")
    parser.add_argument("--lua", default="bench/post.lua")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("pictures", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for part in (part_start, part_pixels, part_load):
        try:
            part(options)
        except (OSError, ValueError, http.client.HTTPException) as error:
            check(False, f"{part.__name__} broke off: {error!r}")
    print(f"\n{len(failures)} checks of the service failed." if failures else "\nEvery check of the service holds.")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
