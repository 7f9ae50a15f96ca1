# SPDX-License-Identifier: MIT
"""Measures the load of a daemon and its children on host and device: CPU time and memory from /proc, and the
output of nvidia-smi, which runs in the background. Standard library only."""
import contextlib
import os
import pathlib
import shutil
import statistics
import subprocess
import threading
import time

TICK = os.sysconf("SC_CLK_TCK")
UTILISATION = ("utilization.gpu", "utilization.decoder", "utilization.jpeg", "utilization.encoder")
MEMORY = "memory.used"
EVERY_MS = 400


# --- processes --------------------------------------------------------------------------
def named_stat(folder):
    """(name, fields behind it: state, parent, ...) of the file `stat` of a process or thread; None when it has ended."""
    try:
        text = (pathlib.Path("/proc") / folder / "stat").read_text()
    except OSError:
        return None
    return text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()


def stat(pid):
    """The fields of /proc/PID/stat behind the name; None when the process has ended."""
    found = named_stat(str(pid))
    return found and found[1]


def family(pid):
    """The process and its descendants: the daemon, the spawner and the engines."""
    parents = {int(name): stat(name) for name in os.listdir("/proc") if name.isdigit()}
    found = [pid]
    for member in found:
        found += [child for child, fields in parents.items() if fields and int(fields[1]) == member]
    return found


def cpu_seconds(pids):
    """User and system time of the processes, ended threads included."""
    return sum((int(fields[11]) + int(fields[12])) / TICK for fields in map(stat, pids) if fields)


def threads(pids):
    """(process, thread) -> (name, ticks of user time, ticks of system time)"""
    folders = [folder for pid in pids for folder in pathlib.Path(f"/proc/{pid}").glob("task/*")]
    found = {(folder.parts[2], folder.name): named_stat(folder) for folder in folders}
    return {key: (seen[0], int(seen[1][11]), int(seen[1][12])) for key, seen in found.items() if seen}


def cores():
    """Ticks of all cores since the start of the machine, and how many of them were idle."""
    ticks = [int(field) for field in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(ticks), ticks[3]


def idle(before, after):
    """How many cores were idle between two results of cores()."""
    return (after[1] - before[1]) / max(1, after[0] - before[0]) * (os.cpu_count() or 1)


def resident_mib(pid, shared=True):
    """Resident memory, shared pages (the daemon's slots) included or not; None when the process has ended."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    kib = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.startswith(("VmRSS", "RssShmem"))}
    return (kib["VmRSS"] - (0 if shared else kib["RssShmem"])) / 1024 if "VmRSS" in kib else None


# --- the device -------------------------------------------------------------------------
def known(fields):
    """The fields that this nvidia-smi supports."""
    found = []
    for field in fields:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            done = subprocess.run(["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader,nounits"],
                                  capture_output=True, text=True, timeout=20)
            if done.returncode == 0 and done.stdout.split("\n")[0].strip().isdigit():
                found.append(field)
    return found


def gpus():
    """The numbers of the host's GPUs; none without nvidia-smi."""
    with contextlib.suppress(OSError, subprocess.SubprocessError, ValueError):
        done = subprocess.run(["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"], capture_output=True, text=True,
                              timeout=20, check=True)
        return [int(line) for line in done.stdout.split()]
    return []


class Device:
    """nvidia-smi in the background; without it there are no samples. Utilisation is the mean over all GPUs, memory the
    sum."""

    def __init__(self):
        self.fields = known((MEMORY, *UTILISATION)) if shutil.which("nvidia-smi") else []
        self.samples = []  # (when, GPU, {field: value})
        self.process = None

    def __enter__(self):
        if self.fields:
            master, terminal = os.openpty()  # to a pipe it may write when its buffer is full
            self.process = subprocess.Popen(
                ["nvidia-smi", "--query-gpu=index," + ",".join(self.fields), "--format=csv,noheader,nounits",
                 f"--loop-ms={EVERY_MS}"], stdin=subprocess.DEVNULL, stdout=terminal, stderr=subprocess.DEVNULL)
            os.close(terminal)
            self.output = open(master)
            self.reader = threading.Thread(target=self._read, daemon=True)
            self.reader.start()
        return self

    def _read(self):
        with contextlib.suppress(OSError):  # the terminal's end
            for line in self.output:
                with contextlib.suppress(ValueError):
                    index, *values = (int(value) for value in line.split(","))
                    self.samples.append((time.monotonic(), index, dict(zip(self.fields, values))))

    def __exit__(self, *ignored):
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.reader.join()
            self.output.close()

    def busy(self, begin, end):
        """field -> mean percent in that time, where anything was seen: GPU, decoder, ..."""
        seen = [values for when, _, values in list(self.samples) if begin <= when <= end]
        return {field.split(".")[1]: statistics.mean(values[field] for values in seen)
                for field in self.fields if field != MEMORY and seen}

    def memory_mib(self):
        """Used now on all GPUs; None where it is not known."""
        latest = {index: values.get(MEMORY) for _, index, values in self.samples[-16:]}
        return sum(latest.values()) if latest and None not in latest.values() else None
