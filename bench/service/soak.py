# SPDX-License-Identifier: MIT
"""The soak: many requests of mixed kinds over connections that are kept, each answer compared with the CPU's, memory of
host and device watched. Prints Markdown; ends with 1 when anything was wrong. Needs Pillow.

    soak.py --blurd PATH --wrk PATH --out FOLDER [--lua bench/rotate.lua] [--codec auto|cpu|gpu|default] [--gpus all|none] [--requests N] [--seconds S]
            [--connections N] [--processes N] [--largest PIXELS] [--kill] PHOTOGRAPH...

The CPU's answers are requested at the start with backend=cpu, and each answer must have the same bytes. Cut files must
get 400. --codec: of --jpeg-codec, `default` leaves it out. --seconds: ends it before all requests are sent.
--kill: the GPU's process is killed every 10 s, and no request may notice."""
import argparse
import collections
import contextlib
import hashlib
import multiprocessing
import os
import pathlib
import queue
import random
import signal
import statistics
import sys
import tempfile
import threading
import time

import client
import host
import photographs
from load import jpeg_counters, serving, settled_metrics, wrk
from service import Service, check, failures, number

try:
    import soak_pictures
except ImportError as missing:
    sys.exit(f"soak.py: {missing}; it needs Pillow")

MEMORY_MIB = 4096  # for pictures: 12 megapixels on every worker at once
KILL_EVERY_S = 10
SAMPLE_EVERY_S = 0.5
GROWTH = 1.02
GROWTH_MIB = 16  # an arena of the heap keeps up to 8 on 16 cores (server/main.c), and two may get there; 27 bytes a request
WARM_CONNECTIONS = 64  # more than a GPU takes at once
WARM_SECONDS = 3  # for each target
CALM_WITHIN_S = 10
TOO_SHORT_S = 60
SHOWN = 20  # complaints
SLOTS = "slots"


# --- answers ----------------------------------------------------------------------------
def digest(body):
    return hashlib.sha1(body).hexdigest()


class Judge:
    """The answers that one process has seen; its threads share it."""

    def __init__(self, expected):
        self.expected = expected  # for each kind: status, checksum
        self.lock = threading.Lock()
        self.complaints = collections.Counter()
        self.counts = collections.Counter()  # (kind, backend) -> answers
        self.wrong_at = []  # time.monotonic() of complaints

    def complain(self, number, status, backend, body):
        """A sentence about the fault of the answer, or None."""
        wanted_status, checksum = self.expected[number]
        if status != wanted_status:
            return f"{status} instead of {wanted_status} from {backend}: {bytes(body[:200])!r}"
        return None if status != 200 or digest(body) == checksum else f"other bytes than the CPU's from {backend}"

    def count(self, number, backend, complaint):
        with self.lock:
            self.counts[number, backend] += 1
            if complaint:
                self.complaints[number, complaint] += 1
                self.wrong_at.append(time.monotonic())


def expect(service, kinds):
    """The CPU's answer to each kind: status, checksum."""
    connection, expected = client.Connection(service.port), []
    for kind in kinds:
        status, backend, body = connection.ask(client.message(kind.target + "&backend=cpu", kind.body))
        wanted = 400 if kind.damaged else 200
        if status != wanted or backend.startswith("cuda:"):
            check(False, f"{kind.name}, {kind.target}: {status} from {backend or 'nobody'} instead of {wanted} from the CPU")
        expected.append((status, digest(body)))
    connection.close()
    return expected


def warm(options, service, kinds):
    """Sends the largest pictures over so many connections that each place of the GPU gets some, and ignores
    the answers. The daemon keeps the memory for them, so that later growth has another cause."""
    whole = [kind for kind in kinds if not kind.damaged]
    least, most = min(kind.weight for kind in whole), max(whole, key=lambda kind: kind.weight)
    targets = {}
    with tempfile.TemporaryDirectory() as folder:
        for i, kind in enumerate(kind for kind in whole if kind.weight == least):
            path = pathlib.Path(folder, str(i))
            path.write_bytes(kind.body)
            targets.setdefault(kind.target, []).append(path)
        for target, files in targets.items():
            wrk(options, service, target, files, WARM_CONNECTIONS, WARM_SECONDS)
    begin = time.monotonic()  # that was an overload: large pictures are refused until it is over
    while number(r"\nblurd_queue_standing (\d)", settled_metrics(service), 1):
        service.request("POST", most.target, most.body)  # it looks when something comes
        if time.monotonic() - begin > CALM_WITHIN_S:
            check(False, f"the daemon is calm {CALM_WITHIN_S} s after an overload")
            break


# --- clients ----------------------------------------------------------------------------
class Share:
    """One process: some connections, each with a thread, that ask until their requests or the time are spent."""

    def __init__(self, port, kinds, expected, order):
        self.kinds, self.judge = kinds, Judge(expected)
        self.port, self.order = port, order  # order: requests, end of the time, seed, connections
        self.messages = [client.message(kind.target, kind.body) for kind in kinds]
        self.totals = [sum(kind.weight for kind in kinds[:i + 1]) for i in range(len(kinds))]
        self.reopened = 0

    def ask(self, connection, number):
        """An answer; a connection that was kept may have been closed meanwhile, a new one may not."""
        kept = connection.socket is not None
        try:
            return connection.ask(self.messages[number])
        except OSError:
            if not kept:
                raise
            self.reopened += 1
            return connection.ask(self.messages[number])

    def client(self, seed, requests):
        chance, connection = random.Random(seed), client.Connection(self.port)
        for _ in range(requests):
            if time.monotonic() > self.order["until"]:
                break
            number = chance.choices(range(len(self.kinds)), cum_weights=self.totals)[0]
            backend = "no answer"
            try:
                status, backend, body = self.ask(connection, number)
                complaint = self.judge.complain(number, status, backend, body)
            except Exception as error:  # any exception means that the request failed
                complaint = f"{backend}: {error!r}"
            self.judge.count(number, backend, complaint)
        connection.close()

    def run(self, results):
        count = self.order["connections"]
        threads = [threading.Thread(target=self.client, args=(self.order["seed"] * 1000 + i, self.order["requests"] // count))
                   for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        complaints = {f"{self.kinds[number].name}, {self.kinds[number].target}: {text}": count
                      for (number, text), count in self.judge.complaints.items()}
        results.put({"reopened": self.reopened, "complaints": complaints, "counts": dict(self.judge.counts),
                     "wrong_at": self.judge.wrong_at})


def start_clients(options, service, kinds, expected, until):
    """The processes and the queue of their results. They are forked before this process starts a thread."""
    context = multiprocessing.get_context("fork")
    results, processes = context.Queue(), []
    for seed in range(options.processes):
        share = Share(service.port, kinds, expected, {
            "requests": -(-options.requests // options.processes), "until": until, "seed": seed,
            "connections": max(1, options.connections // options.processes)})
        processes.append(context.Process(target=share.run, args=(results,)))
        processes[-1].start()
    return processes, results


# --- meanwhile --------------------------------------------------------------------------
class Memory:
    """Samples of the memory of daemon, engine and device, in MiB."""

    def __init__(self, service, device):
        self.service, self.device = service, device
        self.began = time.monotonic()
        # The slots are the daemon's; the engine has some of them mapped, now these, now those. A slot grows to the largest
        # picture that it has had, and the pool's budget bounds them together, so they may grow at any time.
        self.samples = {"daemon, resident without slots": [], SLOTS: [], "engine, resident without slots": [], "device": []}

    def sample(self):
        pid, engine = self.service.process.pid, self.service.engine()
        whole, own = host.resident_mib(pid), host.resident_mib(pid, shared=False)
        slots = None if None in (whole, own) else whole - own
        print(f"{time.monotonic() - self.began:.1f} s:", end="", file=sys.stderr)
        for name, value in zip(self.samples, (own, slots, engine and host.resident_mib(engine, shared=False),
                                              self.device.memory_mib())):
            if value is not None:
                self.samples[name].append(value)
                print(f" {name} {value:.0f}", end="", file=sys.stderr)
        print(file=sys.stderr)

    def report(self, of_all, seconds):
        print("\n| memory, MiB | first | second quarter | last quarter | most |\n|---|--:|--:|--:|--:|")
        verdicts, slots = [], self.samples[SLOTS]
        for name, values in self.samples.items():
            quarter = len(values) // 4
            if quarter < 2:
                continue
            second, last = statistics.mean(values[quarter:2 * quarter]), statistics.mean(values[-quarter:])
            print(f"| {name} | {values[0]:.0f} | {second:.1f} | {last:.1f} | {max(values):.0f} |")
            if name != SLOTS and (of_all or name.startswith("daemon")):
                verdicts.append((last <= max(second * GROWTH, second + GROWTH_MIB), f"{name}: {last - second:+.1f} MiB"))
        print()
        check(not slots or max(slots) <= MEMORY_MIB, f"the slots took at most {max(slots, default=0):.0f} of {MEMORY_MIB} MiB")
        if seconds < TOO_SHORT_S:
            print(f"* {seconds:.0f} s are too short to tell whether memory is flat")
            return
        check(bool(verdicts), "memory was sampled")
        for flat, text in verdicts:
            check(flat, f"memory is flat: {text} from the second quarter to the last")


def watch(options, service, processes, results, device):
    """Samples memory and kills engines until all clients are done. Returns their results, the samples and the
    kills."""
    memory, found, kills, killed = Memory(service, device), [], 0, time.monotonic()
    while len(found) < len(processes):
        with contextlib.suppress(queue.Empty):
            found.append(results.get(timeout=SAMPLE_EVERY_S))
        if not found:  # when one has ended the load is lower
            memory.sample()
        engine = service.engine() if options.kill and time.monotonic() - killed > KILL_EVERY_S else None
        if engine:
            os.kill(engine, signal.SIGKILL)
            kills, killed = kills + 1, time.monotonic()
        if service.process.poll() is not None:
            check(False, f"the daemon ended with {service.process.returncode}")
            break
        if not found and not any(process.is_alive() for process in processes):
            check(False, "the clients ended without a result")
            break
    return found, memory, kills


# --- results ---------------------------------------------------------------------
def merged(found, kinds):
    """name of a picture -> Counter of the backends that answered."""
    table = {kind.name: collections.Counter() for kind in kinds}
    for result in found:
        for (number, backend), count in result["counts"].items():
            table[kinds[number].name][backend or "refused"] += count
    return table


def report(found, kinds, begin, seconds):
    complaints = sum((collections.Counter(result["complaints"]) for result in found), collections.Counter())
    done, wrong = sum(sum(result["counts"].values()) for result in found), sum(complaints.values())
    reopened = sum(result["reopened"] for result in found)
    table = merged(found, kinds)
    backends = sum(table.values(), collections.Counter())
    print(f"{done} requests in {seconds:.0f} s, {done / seconds:.0f}/s: " +
          ", ".join(f"{count} {name}" for name, count in backends.most_common()) + f"; {reopened} connections reopened.\n")
    print("| picture | requests | by |\n|---|--:|---|")
    for name, by in table.items():
        print(f"| {name} | {sum(by.values())} | {', '.join(f'{number} {backend}' for backend, number in by.most_common())} |")
    print()
    for text, count in complaints.most_common(SHOWN):
        print(f"* {count} times {text}")
    wrong_at = [when - begin for result in found for when in result["wrong_at"]]
    if wrong_at:
        print(f"* wrong answers came {min(wrong_at):.1f} to {max(wrong_at):.1f} s after the begin, half of them by "
              f"{statistics.median(wrong_at):.1f} s")
    check(done > 0 and wrong == 0, f"{done - wrong} of {done} answers have the CPU's bytes, or its refusal")
    return done


def soak(options):
    originals = [path.read_bytes() for path in photographs.only_pictures(options.photographs)]
    kinds = list(soak_pictures.kinds(originals, options.largest))
    extra = ["--memory", f"{MEMORY_MIB}MiB"] + ([] if options.codec == "default" else ["--jpeg-codec", options.codec])
    print(f"\n## Soak\n\n{len(kinds)} kinds of requests over {options.connections} connections, `--jpeg-codec {options.codec}`"
          f"{', the GPU process killed every ' + str(KILL_EVERY_S) + ' s' if options.kill else ''}.\n", flush=True)
    with Service(options, options.gpus, "soak", *extra) as service:
        reason = serving(service, options.gpus, options.codec)
        if reason:
            check(False, reason)
            return
        expected = expect(service, kinds)
        warm(options, service, kinds)
        begin = time.monotonic()
        processes, results = start_clients(options, service, kinds, expected, begin + options.seconds)
        with host.Device() as device:
            found, memory, kills = watch(options, service, processes, results, device)
        seconds = time.monotonic() - begin
        for process in processes:
            process.join()
        done = report(found, kinds, begin, seconds)
        memory.report(not options.kill, seconds)
        if options.kill:
            check(kills > 0, f"the GPU's process was killed {kills} times")
        if done < options.requests:
            print(f"* {options.requests} were to be sent; the time was up after {seconds:.0f} s")
        counters = jpeg_counters(service.metrics())
        if counters:
            print("* the daemon's counters: " + ", ".join(f"`{name}` {value:g}" for name, value in counters.items()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--blurd", required=True)
    parser.add_argument("--wrk", required=True)
    parser.add_argument("--wrk-threads", type=int, default=8)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--lua", default="bench/rotate.lua")
    parser.add_argument("--codec", default="auto")
    parser.add_argument("--gpus", default="all")
    parser.add_argument("--requests", type=int, default=1000000)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--processes", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--largest", type=int, default=4000)
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("photographs", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    soak(options)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
