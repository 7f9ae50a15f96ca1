# SPDX-License-Identifier: MIT
"""Two daemons on one GPU: alone, sharing it by time slices, and under MPS, whose control daemon is started in a folder of its own
and ended again. Reads the modes of the GPU, and changes none. Prints Markdown; ends with 1 when a check failed. Standard library only.

    sharing.py --blurd PATH --wrk PATH --out FOLDER [--lua bench/rotate.lua] [--seconds 4] PICTURE..."""
import contextlib
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import client
import host
import load
import several
from service import Service, check, failures

TARGET, CONNECTIONS = "/blur?sigma=5", 64  # for each daemon
MODES = {"mig.mode.current": "MIG mode", "compute_mode": "compute mode", "driver_version": "driver", "memory.total": "memory"}
CONTROL = "nvidia-cuda-mps-control"
AGAIN_WITHIN_S = 30
EXCLUSIVE = "Exclusive_Process"
FOLDER = "CUDA_MPS_PIPE_DIRECTORY"


def output(*command, said=None, environment=None):
    """What a command says, in one line; None where it is not there, fails, or does not end."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(command, input=said, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20, check=True,
                              env=environment)
        return "; ".join(done.stdout.split("\n")).strip("; ")
    return None


def modes():
    """name -> value, as nvidia-smi has it."""
    return {name: output("nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader") or "not known, nvidia-smi does not say"
            for field, name in MODES.items()}


# --- MPS --------------------------------------------------------------------------------
class Mps:
    """A control daemon in a folder of its own. `why` says why there is none."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="mps-", dir="/tmp")  # a socket's name is short
        self.environment = {**os.environ, FOLDER: f"{self.folder}/pipe", "CUDA_MPS_LOG_DIRECTORY": f"{self.folder}/log"}
        self.why, self.control = "", shutil.which(CONTROL)

    def __enter__(self):
        for name in ("pipe", "log"):
            os.mkdir(f"{self.folder}/{name}")
        if not self.control:
            self.why = f"there is no `{CONTROL}` here"
            return self
        # It goes to the background, so its output must not be a pipe that is read to the end.
        done = subprocess.run([self.control, "-d"], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=20, check=False)
        if done.returncode or self.say("get_server_list") is None:
            self.why = f"`{CONTROL} -d` ends with {done.returncode}: {self.log()}"
        return self

    def say(self, command):
        return output(self.control, said=f"{command}\n", environment=self.environment)

    def log(self):
        """The last lines of its logs."""
        lines = []
        for name in ("control.log", "server.log"):
            with contextlib.suppress(OSError), open(f"{self.folder}/log/{name}", encoding="utf-8", errors="replace") as file:
                lines += [f"{name}: {line.strip()}" for line in file][-4:]
        return "; ".join(lines) or "no log"

    def servers(self):
        return [int(word) for word in (self.say("get_server_list") or "").replace(";", " ").split() if word.isdigit()]

    def clients(self):
        """How many processes compute through its servers."""
        lists = [self.say(f"get_client_list {server}") or "" for server in self.servers()]
        return sum(word.isdigit() for text in lists for word in text.replace(";", " ").split())

    def __exit__(self, *ignored):
        if self.control and not self.why:
            self.say("quit -t 5")
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def environment_of(folder):
    """Daemons that are started meanwhile look for MPS there."""
    before = os.environ.get(FOLDER)
    os.environ[FOLDER] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ[FOLDER]
        else:
            os.environ[FOLDER] = before


# --- measurements -----------------------------------------------------------------------
def by_cpu(options):
    """The bytes of each photograph's answer."""
    with Service(options, "none", "sharing-cpu") as own:
        reason = load.serving(own, "none", "auto")
        bodies = [path.read_bytes() for path in options.photographs]
        return [] if reason else [(client.message(TARGET, body), own.request("POST", TARGET, body)[2]) for body in bodies]


class Quiet(threading.Thread):
    """Asks a daemon for one picture after the other until `over` is set, and compares the bytes."""

    def __init__(self, service, known):
        super().__init__(daemon=True)
        self.connection, self.known, self.over = client.Connection(service.port), known, threading.Event()
        self.took, self.wrong, self.refused, self.by_gpu = [], 0, 0, 0

    def run(self):
        turn = 0
        while not self.over.is_set():
            message, wanted = self.known[turn % len(self.known)]
            turn += 1
            begin = time.perf_counter()
            try:
                status, backend, got = self.connection.ask(message)
            except OSError:
                self.refused += 1
                time.sleep(0.01)
                continue
            self.took.append((time.perf_counter() - begin) * 1000)
            self.refused += status != 200
            self.wrong += status == 200 and got != wanted
            self.by_gpu += backend.startswith("cuda")

    def finish(self):
        self.over.set()
        self.join()
        self.connection.close()


def start(options, stack, name, count, *more):
    """(daemons that serve, the milliseconds that the first took, the reason why one does not)"""
    daemons = [stack.enter_context(Service(options, "0", f"sharing-{name}-{i}", *more)) for i in range(count)]
    reason, first = "", None
    for daemon in daemons:
        reason = reason or load.serving(daemon, "0", "auto")
        first = first or (time.monotonic() - daemon.began) * 1000
    return daemons, first, reason


def measure(options, device, known, name, count, mps=None, *more):
    """A row, and what it found; False where a daemon does not serve."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(environment_of(mps.environment[FOLDER] if mps else f"{options.out}/no-mps"))
        daemons, first, reason = start(options, stack, name.replace(" ", "-"), count, *more)
        if reason:
            print(f"| {name} | {reason} |" + " |" * 9, flush=True)
            options.later.append((False, f"{name}: a GPU serves: {reason}"))
            return False
        for daemon in daemons:
            load.wrk(options, daemon, TARGET, options.photographs, CONNECTIONS, 1)
        # One after the other while nothing else asks; then while the last daemon, which is another one where there are two, is under load.
        calm = Quiet(daemons[0], known)
        calm.start()
        time.sleep(2)
        calm.finish()
        crowded = Quiet(daemons[0], known)
        crowded.start()
        load.wrk(options, daemons[-1], TARGET, options.photographs, CONNECTIONS, 2)
        crowded.finish()
        begin = time.monotonic()
        cells, idle = several.side_by_side(options, device, daemons, 5, CONNECTIONS)
        busy = device.busy(begin, time.monotonic()).get("gpu")
        memory, clients = device.memory_mib(), mps.clients() if mps else 0
        took = [sorted(one.took) or [0] for one in (calm, crowded)]
        quiet = [f"{statistics.median(each):.2f}, {each[int(len(each) * 0.99)]:.1f}" for each in took]
        print(f"| {name} | {sum(cell['rate'] for cell in cells):.0f} | {', '.join(f'''{cell['rate']:.0f}''' for cell in cells)} | "
              f"{max(cell['p99'] for cell in cells):.1f} | {quiet[0]} | {quiet[1]} | {'-' if busy is None else f'{busy:.0f}'} | {idle:.1f} | "
              f"{'-' if memory is None or options.unused is None else memory - options.unused} | {first:.0f} | {clients if mps else '-'} |", flush=True)
    errors = sum(cell["errors"] for cell in cells) + calm.refused + crowded.refused
    options.later += [(not errors, f"{name}: no request failed"),
                      (not calm.wrong + crowded.wrong, f"{name}: {len(calm.took) + len(crowded.took)} answers have the CPU's bytes, "
                                                       f"{calm.by_gpu + crowded.by_gpu} of them from the GPU"),
                      *([(clients > 0, f"{name}: the daemons compute through MPS")] if mps else [])]
    return True


def server_dies(options, known, mps):
    """The server is killed under load; the control daemon starts another one for the next process."""
    print("\n### The server of MPS is killed under load\n")
    with contextlib.ExitStack() as stack:
        stack.enter_context(environment_of(mps.environment[FOLDER]))
        daemons, _, reason = start(options, stack, "dies", 2)
        servers = mps.servers()
        if reason or not servers:
            check(False, f"two daemons compute through MPS: {reason or 'there is no server'}")
            return
        quiet = [Quiet(daemon, known) for daemon in daemons for _ in range(4)]
        for one in quiet:
            one.start()
        time.sleep(1)
        for server in servers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(server, signal.SIGKILL)
        killed, again = time.monotonic(), []
        time.sleep(0.5)
        for daemon in daemons:
            state = daemon.wait_for_gpu(max(1, killed + AGAIN_WITHIN_S - time.monotonic()))
            again.append(f"{time.monotonic() - killed:.1f} s" if state[0] == "serving" else f"**not within {AGAIN_WITHIN_S} s**: {state[1]}")
        before = [one.by_gpu for one in quiet]
        time.sleep(1)
        for one in quiet:
            one.finish()
        after = sum(one.by_gpu for one in quiet) - sum(before)
        took = max(max(one.took, default=0) for one in quiet)
        print(f"{sum(len(one.took) for one in quiet)} answers, {sum(one.refused for one in quiet)} of them refused or lost, the slowest after "
              f"{took:.0f} ms. The GPU served again after {' and '.join(again)} (looked at from half a second on); {after} answers from it in the second "
              f"after that, {mps.clients()} clients of MPS then.\n")
        check(not any(one.wrong for one in quiet), "each answer has the CPU's bytes")
        check(not any(one.refused for one in quiet), "no request was lost")
        check(all(daemon.process.poll() is None for daemon in daemons), "both daemons go on")


def exclusive(options, found):
    """What a second daemon says where the GPU takes one process alone."""
    print("\n### A GPU that takes one process\n")
    if EXCLUSIVE not in found["compute mode"]:
        print(f"Not tried: the compute mode is {found['compute mode']}, and `nvidia-smi -c`, which changes it, concerns each user of the GPU.\n")
        return
    with environment_of(f"{options.out}/no-mps"), Service(options, "0", "exclusive-1") as first:
        load.serving(first, "0", "auto")
        with Service(options, "0", "exclusive-2") as second:
            state = second.wait_for_gpu(10)
            status, backend, _ = second.request("POST", TARGET, options.photographs[0].read_bytes())
            print(f"The second daemon's GPU is {state[0]}: {state[1]}. It answers {status} by {backend}.\n")
            check(status == 200, "a daemon without its GPU answers by the CPU")


def table(options, device, known, mps):
    print("| daemons | requests/s | of each daemon | p99, ms | one at a time, p50 and p99, ms | the same while the last daemon is under load, ms | GPU busy, % | "
          "idle cores | GPU memory, MiB | GPU serves after, ms | clients of MPS |\n|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|", flush=True)
    measure(options, device, known, "one", 1)
    measure(options, device, known, "two, time slices", 2)
    if not mps.why:
        if not measure(options, device, known, "one under MPS", 1, mps):
            measure(options, device, known, "one under MPS, sandbox off", 1, mps, "--sandbox", "off")
        measure(options, device, known, "two under MPS", 2, mps)
    print()
    for holds, text in options.later:
        check(holds, text)
    if mps.why:
        print(f"\nMPS was not tried: {mps.why}.")


def tell_logs(options):
    """What the daemons say of their GPU's processes, each sentence once."""
    found = {line.split("Z ", 1)[-1].strip() for path in sorted(options.out.glob("*.log"))
             for line in path.read_text(errors="replace").splitlines() if " engine " in line or " gpu " in line}
    print("\n### What the daemons' logs say of their GPU\n\n```", *sorted(found)[:20], "```", sep="\n")


def main():
    options = load.parsed(load.arguments(seconds=4))
    options.out = options.out.resolve()
    options.seconds, options.wrk_threads, options.later = 1 if options.quick else int(options.seconds), 4, []
    found = modes()
    print("\n## Two daemons on one GPU\n\n| | |\n|---|---|")
    for name, value in found.items():
        print(f"| {name} | {value} |")
    print(f"| MPS by default in /tmp/nvidia-mps | {'there is such a folder' if os.path.exists('/tmp/nvidia-mps') else 'none'} |")
    print(f"| this user | {os.getuid()} |")
    print(f"\n{len(options.photographs)} photographs of 1920x1080, {options.origin}; `{TARGET}`, {CONNECTIONS} connections and 4 threads of wrk for "
          f"each daemon, {os.cpu_count()} cores.\n")
    known = by_cpu(options)
    if not known:
        check(False, "a daemon without a GPU answers")
        sys.exit(1)
    with host.Device() as device, Mps() as mps:
        time.sleep(1 if device.fields else 0)  # until it has told the memory
        options.unused = device.memory_mib()  # once, as a daemon's memory comes back some time after its end
        table(options, device, known, mps)
        if not mps.why:
            server_dies(options, known, mps)
            shutil.copytree(f"{mps.folder}/log", options.out / "mps", dirs_exist_ok=True)
            print("\nThe ends of the logs of MPS: " + mps.log())
        exclusive(options, found)
    tell_logs(options)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
