#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts small bugs into the code, one at a time, and tells which of them no test notices (`make mutants`).

    tests/mutants/run.py [--files core/slot.c server] [--kinds 'dropped status,dropped check'] [--count 200] [--seed 1]
                         [--from 1] [--again LOG] [--jobs 2] [--near] [--list]

For each mutant tests are linked and run until one fails: first the unit programs that include the header of the
changed file or are named like it, then all other unit and filter programs, then the HTTP tests of its folder (the
table HTTP below). --near leaves the other programs out: what catches a mutant then is a test that is meant to.
@tests/mutants/promises.txt stands for the options in that file: what one leaves out by mistake where memory, sandboxes
and redaction depend on it. The changed file alone is compiled, without optimisation, and linked in front of the library.
Kernels (.cu, .cuh) run on tests/fake_cuda: first the parts of check_gpu that compare them with the CPU (KERNELS), then
the programs that use it. A mutant that no test fails for is a survivor. Survivors that change nothing for users are
listed in explained.txt, each with its reason, and do not count.

Works on copies of the tree under build/mutants, one for each job; the checkout itself is not touched.
Ends with 1 when less than --required percent of the mutants were caught.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import mutate

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("core", "codecs", "server", "gpu", "filters", "detect", "cpu", "config")
PYTHON = str(ROOT / "tests/python.sh")
BUILD_S, HTTP_S, CHECK_S = 900, 1200, 900
MAKE = ["make", "CONFIG=release", f"CURDIR={ROOT}"]  # the folder is one of the flags: no copy builds everything anew
QUICK = "-O0 -g0 -U_FORTIFY_SOURCE -Werror"  # how a changed file is compiled; its tests take most of the time
LINKER = "-fuse-ld=lld -Wl,-s"
BUILT = ("release", "cuda", "playground")  # folders that a build writes to: each tree has its own
SLOW_S = 3  # programs that take longer and do not include the header of the changed file are left out
SLOWEST = 5  # a program hangs after this factor times its time without a mutant, and SPARE_S more
SPARE_S = 10

# HTTP tests that concern a file or a folder; the longest name that fits counts.
HTTP = {
    "core": "blur_jpeg blur_png pipeline overload log robustness",
    "core/log": "log start",
    "core/process": "reload tls codec_process codec_memory gpu_faults tracing",
    "codecs": "blur_jpeg blur_png corpus lossless orientation regions redact metamorphic",
    "codecs/process": "codec_process codec_memory formats robustness",
    "codecs/avif": "avif_crop heif_files formats metadata",
    "codecs/bmff": "heif_files heif_references avif_crop hdr_heif",
    "codecs/gainmap": "hdr hdr_kept hdr_apple hdr_heif",
    "codecs/heic": "heif_files heif_references heic_chroma formats",
    "codecs/metadata/icc": "profiles metadata",
    "codecs/png": "blur_png corpus robustness",
    "server": "parameters refusals multipart framing headers health operations overload blur_jpeg pipeline regions "
    "connections slow_clients drain reload log start authorization monitoring",
    "server/hdr": "hdr_redact hdr_kept hdr_apple hdr_heif",
    "server/http": "connections slow_clients disconnects direct_receive deadlines tls framing headers drain",
    "server/http/listen": "start connections",
    "server/pages/tls_client": "health",
    "server/overload": "overload memory_limits deadlines_shared deadlines",
    "server/picture": "redact_refusals redact regions region_list mask_part detect pipeline lossless redact_feather redact_spread",
    "server/planner/detection_plan": "detect redact",
    "server/planner/selection_plan": "redact_refusals redact regions region_list mask_part detect",
    "server/planner": "ways overload cost memory_limits pipeline gpu_jpeg gpu_jpeg_partial",
    "server/picture/time_spent": "deadlines_shared deadlines",
    "server/process": "drain reload start log activation codec_process idle_exit",
    "server/process/spawners": "codec_process tracing gpu",
    "server/queue": "overload cost deadlines deadlines_shared memory_limits codec_process",
    "server/search/hold": "hold hold_series",
    "server/series": "series hold_series",
    "server/tracing": "tracing",
    "gpu/front": "gpu gpu_faults gpu_sandbox gpu_jpeg_faults",
    "gpu/front/shared_time": "deadlines_shared",
    "gpu/engine": "gpu gpu_faults gpu_memory gpu_sandbox gpu_jpeg gpu_jpeg_memory",
    "gpu": "gpu gpu_faults gpu_jpeg gpu_jpeg_faults gpu_jpeg_memory",
    "filters": "filters parameters refusals regions region_list mask_part redact pipeline orientation resize crop adjust metamorphic",
    "detect": "detect redact start",
    "cpu": "filters blur_jpeg regions redact pipeline orientation rank detect metamorphic",
    "config": "start reload log authorization health memory environment cors",
}
# Parts of check_gpu that run the kernels of a file or a folder; the longest name that fits counts.
KERNELS = {
    "gpu": "filters blur jpeg",
    "gpu/detect": "faces",
    "gpu/filters": "filters",
    "filters": "filters",
    "filters/blur/gpu": "blur",
    "gpu/filters/colours": "colours",
    "gpu/filters/orient": "orient filters",
    "gpu/filters/mask": "masks",
    "gpu/jpeg": "jpeg encode scans patch",
}
FAKE_CUDA, CHECK_GPU = "build/release/tests/fake_cuda/libfakecuda.so", "build/release/tests/gpu/check_gpu"


def fitting(table, path):
    """The words of the row with the longest name that fits."""
    return table[max((name for name in table if path.startswith(name)), key=len)].split()


def is_kernel(path):
    return path.endswith((".cu", ".cuh"))


def http_tests(path):
    files = [f"tests/http/test_{stem}.py" for stem in fitting(HTTP, path)]
    own = f"tests/http/test_{pathlib.Path(path).stem}.py"
    return [own] * ((ROOT / own).exists() and own not in files) + [file for file in files if (ROOT / file).exists()]


def sources(chosen):
    """Paths of the C files and kernels that `chosen` (files or folders, separated by commas) names."""
    found = []
    for name in chosen.split(","):
        path = ROOT / name
        inside = [p for p in sorted(path.glob("**/*")) if p.suffix in (".c", ".cu", ".cuh")]
        found += [name] if path.is_file() else [str(p.relative_to(ROOT)) for p in inside]
    return [path for path in found if not path.endswith("none.c")]


def explained():
    """Keys of mutants that change nothing, from explained.txt: a line with the key, then indented the reason."""
    text = (pathlib.Path(__file__).parent / "explained.txt").read_text(encoding="utf-8")
    return {line.strip() for line in text.splitlines() if line[:1].strip() and not line.startswith("#")}


def stale():
    """Keys in explained.txt that name no mutant any more."""
    keys = explained()
    paths = sorted({path for path in (key.split(" ")[0] for key in keys) if (ROOT / path).exists()})
    return sorted(keys - {mutant.key for path in paths for mutant in mutate.mutants(path, ROOT)})


def choose(files, kinds, count, seed):
    """`count` mutants of these kinds, spread evenly over the files, and over the functions of each."""
    rng = random.Random(seed)
    known = explained()
    rows = collections.defaultdict(lambda: collections.defaultdict(list))
    for path in files:
        for mutant in mutate.mutants(path, ROOT):
            if mutant.kind.startswith(kinds):
                rows[path][mutant.function].append(mutant)
    chosen = []
    while len(chosen) < count and rows:
        for path in rng.sample(sorted(rows), len(rows)):
            function = rng.choice(sorted(rows[path]))
            group = rows[path][function]
            chosen.append(group.pop(rng.randrange(len(group))))
            if not group:
                del rows[path][function]
            if not rows[path]:
                del rows[path]
            if len(chosen) == count:
                break
    return [mutant for mutant in chosen if mutant.key not in known]  # at the end: the others stay the same


def survivors(log):
    """The mutants that survived by the output of an earlier run, if the code still has them and none explains them."""
    told = re.findall(r"^ *\d+ SURVIVED +(\S+?):\d+ (.+)$", pathlib.Path(log).read_text(encoding="utf-8"), re.MULTILINE)
    return [mutant for path, change in told if (ROOT / path).exists() for mutant in mutate.mutants(path, ROOT)
            if f"{mutant.before} => {mutant.after}" == change and mutant.key not in explained()]


class Tree:
    """A copy of the checkout in which one mutant at a time lives."""

    def __init__(self, number, cores, near):
        self.near = near  # whether programs that do not concern the file are left out
        self.path = ROOT / f"build/mutants/tree-{number}"
        self.cores = cores  # its own, so that jobs do not disturb each other's tests
        self.times = {}
        self.commands = {}  # by what they make, as the Makefile has them
        self.environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", BLURD=str(self.path / "build/release/blurd"))
        self.environment.pop("CUDA_LIBRARY", None)

    def prepare(self, paths):
        self.path.mkdir(parents=True, exist_ok=True)
        names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        kept = set(names.decode().split("\0"))
        for old in [path for path in self.path.rglob("*") if path.is_file() and path.relative_to(self.path).parts[0] != "build"]:
            if str(old.relative_to(self.path)) not in kept:
                old.unlink()  # of an earlier version of the checkout: make would compile it
        for name in kept:
            source, target = ROOT / name, self.path / name
            if name and source.is_file() and not (
                target.exists() and source.read_bytes() == target.read_bytes()):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
        (self.path / "build").mkdir(exist_ok=True)
        for source in (ROOT / "build").iterdir():
            target = self.path / "build" / source.name
            if source.name in BUILT and not target.exists():
                shutil.copytree(source, target, symlinks=True)
            elif source.is_dir() and source.name not in (*BUILT, "mutants") and not target.exists():
                target.symlink_to(source)
        shared = self.path.parent / "shared"
        if (ROOT / "../shared").exists() and not shared.exists():
            shared.symlink_to((ROOT / "../shared").resolve())
        # A dry run remakes the file of flags, and so everything.
        said = subprocess.run([*MAKE, "-sn", "V=1", "all", "tests"], cwd=self.path,
                              env=self.environment, capture_output=True, text=True, check=True).stdout
        self.commands = {made.group(1): made.group(0) for made in re.finditer(r"^.* -o (build/\S+) .*$", said, re.MULTILINE)}
        if not self.build(["all", *([CHECK_GPU] if any(map(is_kernel, paths)) else []), *self.needed(paths)]):
            sys.exit("mutants: the tree does not build without a mutant")

    def needed(self, paths):
        """The programs that run for any of these files."""
        if not self.near or any(map(is_kernel, paths)):
            return self.programs()
        return sorted({name for path in paths for name in self.concerned(path)[0]})

    def run(self, command, seconds, output=subprocess.DEVNULL):
        """True when the command ends with 0 or 77 in time. It runs in a separate process group, so that no
        process stays behind."""
        process = subprocess.Popen(command, cwd=self.path, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=lambda: os.sched_setaffinity(0, self.cores))
        try:
            return process.wait(seconds) in (0, 77)
        except subprocess.TimeoutExpired:
            return False
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()

    def build(self, goals):
        return self.run([*MAKE, "-s", *goals], BUILD_S)

    def link(self, path, names):
        """Compiles one file, and links it to the programs; false when the compiler refuses it."""
        made = f"build/release/{path.removesuffix('.c')}.o"
        own = made.removesuffix(".o") + ".mutant.o"
        lines = [f"{self.commands[made]} {QUICK}".replace(made, own).replace(" -MMD -MP", "")]
        for name in names:  # older than all else: make does not take them for what it built
            first, rest = re.fullmatch(rf"(.* -o {name} \S+) (.*)", self.commands[name]).groups()
            first = first.replace(made, own) if first.endswith(made) else f"{first} {own}"
            lines += [f"{first} {LINKER} -Wl,-z,muldefs {rest}", f"touch -d @0 {name}"]
        return self.run(["sh", "-ec", "\n".join(lines)], BUILD_S)

    def fails(self, name):
        """Whether the program hangs, or fails twice, since one that measures time may fail beside others."""
        limit, begun = SLOWEST * self.times[name] + SPARE_S, time.monotonic()
        return not self.run([name], limit) and (time.monotonic() - begun >= limit or not self.run([name], limit))

    def check_gpu(self, part):
        """The command that compares kernels with the CPU; the seed is fixed, so that a run can be repeated."""
        return ["env", f"CUDA_LIBRARY={self.path / FAKE_CUDA}", "SEED=1", CHECK_GPU, "--quick", *part.split()]

    def programs(self):
        return sorted(name for name in self.commands if re.fullmatch(r"build/release/tests/(unit|filters)/test_\w+", name))

    def text(self, name):
        """The source of a program, by the first object that is linked to it."""
        made = re.search(rf" -o {name} build/release/(\S+)\.o ", self.commands[name]).group(1)
        return (self.path / f"{made}.c").read_text(encoding="utf-8")

    def time_program(self, name):
        start = time.monotonic()
        if not self.run([name], 300):
            sys.exit(f"mutants: {name} fails without a mutant")
        return time.monotonic() - start

    def concerned(self, path):
        """Programs that include the header of the file, themselves or in a fixture, or whose name begins with the first
        word of its name; and all others. The fastest first."""
        stem = path.removesuffix(".c")
        texts = {}
        for name in self.programs():
            texts[name] = self.text(name)
            for fixture in re.findall(r'^#include "(tests/.*)"$', texts[name], re.MULTILINE):
                texts[name] += (self.path / fixture).read_text(encoding="utf-8")
        named = re.compile(rf"/test_{pathlib.Path(stem).name.split('_')[0]}(_|$)")
        near = [name for name in texts if f'"{stem}.h"' in texts[name] or named.search(name)]
        far = [name for name in self.times if name not in near and self.times[name] < SLOW_S]
        return sorted(near, key=lambda name: self.times.get(name, 0)), sorted(far, key=self.times.get)

    def test_kernels(self, path):
        """As test. The programs are not linked anew: they open what the kernels are part of."""
        if not self.build([FAKE_CUDA]):
            return "stillborn"
        for part in fitting(KERNELS, path):
            if not self.run(self.check_gpu(part), CHECK_S):
                return f"check_gpu {part}"
        for name in sorted(self.times, key=self.times.get):
            if '"gpu/' in self.text(name) and not self.run([name], SLOWEST * self.times[name] + SPARE_S):
                return pathlib.Path(name).name
        return self.http(http_tests(path))

    def test(self, path):
        """The name of the first test that fails, "stillborn", or None."""
        if is_kernel(path):
            return self.test_kernels(path)
        near, far = self.concerned(path)
        for programs in (near, [] if self.near else far):
            if not self.link(path, programs):
                return "stillborn"
            for name in programs:
                if self.fails(name):
                    return pathlib.Path(name).name
        return self.http(http_tests(path)) if self.link(path, ["build/release/blurd"]) else "stillborn"

    def http(self, names):
        """The name of the first test that fails twice, since one that measures time may fail beside other jobs."""
        pytest = [PYTHON, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        with tempfile.TemporaryFile("w+") as output:
            if self.run([*pytest, "-rfE", *names], HTTP_S, output):
                return None
            output.seek(0)
            failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output.read(), re.MULTILINE)
        if failed and self.run([*pytest, failed.group(1)], HTTP_S):
            return self.http([name for name in names if name != failed.group(1).split("::")[0]])
        return failed.group(1).split("/")[-1] if failed else "http: no end"

    def judge(self, mutant):
        file = self.path / mutant.path
        original = file.read_text(encoding="utf-8")
        lines = original.split("\n")
        lines[mutant.line - 1 : mutant.line - 1 + mutant.lines] = [mutant.text]
        file.write_text("\n".join(lines), encoding="utf-8")
        try:
            return self.test(mutant.path)
        finally:
            file.write_text(original, encoding="utf-8")


def report(outcomes, required):
    caught = [o for _, o in outcomes if o not in (None, "stillborn")]
    survivors = [mutant for mutant, outcome in outcomes if outcome is None]
    born = len(caught) + len(survivors)
    print(f"\n{len(outcomes)} mutants, {len(outcomes) - born} do not compile, {len(caught)} of {born} caught "
          f"({100 * len(caught) / max(born, 1):.1f} %)")
    for mutant in survivors:
        print(f"survivor: {mutant.path}:{mutant.line} ({mutant.kind}) in {mutant.function}\n"
              f"    {mutant.before}\n    {mutant.after}")
    for kind in sorted({mutant.kind for mutant, _ in outcomes}):
        own = [outcome for mutant, outcome in outcomes if mutant.kind == kind and outcome != "stillborn"]
        print(f"{kind}: {sum(outcome is not None for outcome in own)} of {len(own)} caught")
    return 0 if born and 100 * len(caught) >= required * born else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, fromfile_prefix_chars="@", formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", nargs="+", default=FOLDERS)
    parser.add_argument("--kinds", default="", help="those alone that begin so, separated by commas")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", type=int, default=1, dest="first", help="leaves out the mutants before this one")
    parser.add_argument("--again", metavar="LOG", help="those that survived in an earlier run, by its output, and no others")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--required", type=float, default=90, help="percent that must be caught")
    parser.add_argument("--near", action="store_true", help="leaves out programs that do not concern the changed file")
    parser.add_argument("--list", action="store_true", help="prints the mutants and ends")
    options = parser.parse_args()
    old = stale()
    if old:
        print("explained.txt: no such mutant any more, remove it:", *old, sep="\n    ", file=sys.stderr)
    chosen = survivors(options.again) if options.again else choose(
        sources(",".join(options.files)), tuple(options.kinds.split(",")), options.count, options.seed)[options.first - 1 :]
    if options.list:
        for mutant in chosen:
            print(f"{mutant.path}:{mutant.line} {mutant.kind}: {mutant.before} => {mutant.after}")
        return 0
    cores = sorted(os.sched_getaffinity(0))
    share = max(1, len(cores) // options.jobs)
    made = [Tree(i, [cores[(i * share + k) % len(cores)] for k in range(share)], options.near) for i in range(options.jobs)]
    trees = queue.Queue()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        paths = {mutant.path for mutant in chosen}
        list(pool.map(lambda tree: tree.prepare(paths), made))
        names = made[0].needed(paths)
        times = dict(zip(names, pool.map(lambda i: made[i % len(made)].time_program(names[i]), range(len(names)))))
    for tree in made:
        tree.times = times
        trees.put(tree)
    outcomes = []

    def judge(mutant):
        tree = trees.get()
        try:
            outcome = tree.judge(mutant)
        finally:
            trees.put(tree)
        outcomes.append((mutant, outcome))
        print(f"{len(outcomes):4} {outcome or 'SURVIVED':28} {mutant.path}:{mutant.line} {mutant.before} => "
              f"{mutant.after}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(judge, chosen))
    return report(outcomes, options.required)


if __name__ == "__main__":
    sys.exit(main())
