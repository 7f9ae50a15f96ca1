# SPDX-License-Identifier: MIT
"""bench/gpu.sh with pretended programs: it tells what failed, and ends with a status that says so. A real GPU is where
it runs otherwise, so that nothing else would notice. Prints what is wrong; ends with 1 then."""
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Each program by name. BAD names what goes wrong: a part of check_gpu or a tool.
PROGRAMS = {
    "blurd": "echo blurd 0",
    "sample": 'echo sample >"$1"',
    "check_gpu": 'echo "$CUDA_VISIBLE_DEVICES $*" >>"$CALLS"\n[[ -z ${BAD-} || " $* " != *" $BAD "* ]] || { echo "6 passed, 1 failed"; exit 1; }\n'
                 'echo "7 passed, 0 failed"',
    "nvidia-smi": '[ "${BAD-}" != nothing ] || exit 9\n[ "$1" != -L ] || { printf "GPU 0\\nGPU 1\\n"; exit; }\necho "Pretended, 1, 2 MiB, 3 MHz"',
    "compute-sanitizer": """
tool=$2 options=$*
while [[ $1 == --* ]]; do shift 2; done
"$@" || exit
case $tool in
racecheck) hazards=0; [[ ${BAD-} != hazards || $* != *scans* ]] || hazards=3
    echo "========= RACECHECK SUMMARY: $hazards hazards displayed (0 errors, $hazards warnings)" ;;
*) errors=0
    [ "${BAD-}" != "$tool" ] || errors=1
    [[ $tool != memcheck || $options == *"--report-api-errors no"* ]] || errors=2
    echo "========= ERROR SUMMARY: $errors errors"
    [[ $errors = 0 || $options != *"--error-exitcode 9"* ]] || exit 9 ;;
esac""",
    "blurd-bench": '[ "${BAD-}" != "$1" ] || exit 1\n[ "$1" != facts ] || echo "| a fact | 3 ms |"',
    "ncu": """
[ "$1" != --version ] || { echo "Version 1"; exit; }
printf '%s: 9 bytes\\n' 'sigma 5, optimal codes' 'sigma 5, optimal codes' scans
row() { printf '"%s","1","%s(int)","%s","%s","%s"\\n' "$@"; }
echo '"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'
id=0
for kernel in huffman_sync decode_values huffman_sync decode_values ${BAD:-read_scans}; do
    row $id $kernel gpu__time_duration.sum ns $((1000 + 1000 * id))
    row $id $kernel smsp__inst_executed.sum inst 2,000,000
    row $id $kernel lts__t_bytes.sum byte 3,000,000
    row $id $kernel dram__bytes.sum Kbyte 500
    row $id $kernel sm__warps_active.avg.pct_of_peak_sustained_active % 25
    row $id $kernel launch__registers_per_thread register/thread 40
    id=$((id + 1))
done""",
}
SANITIZERS = ("memcheck", "initcheck", "synccheck")
wrong = []


def expect(holds, what, output):
    if not holds:
        wrong.append(f"bench/gpu.sh: expected that {what}:\n{output}")


def run(folder, *parts, bad=""):
    """(status, what it says, [[number of the GPU, arguments of check_gpu], ...])"""
    calls = folder / "calls"
    calls.write_text("")
    environment = dict(os.environ, PATH=f"{folder / 'bin'}:/usr/bin:/bin", CALLS=str(calls), CUDA_HOME=str(folder), SEED="1",
                       FACE_MODEL="/models/some.face")
    for name in ("BLURD_CUDA_LIBRARY", "CUDA_VISIBLE_DEVICES"):
        environment.pop(name, None)
    environment["BAD"] = bad
    done = subprocess.run([ROOT / "bench/gpu.sh", "--bundle", folder, "--out", folder / "out", *parts], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, [line.split(" ", 1) for line in calls.read_text().splitlines()]


def check_all_right(folder):
    status, output, calls = run(folder, "check", "sanitize", "races")
    expect(status == 0 and "Everything that ran is as it must be." in output, "all that ran was right", output)
    expect(re.search(r"racecheck \| ok \| \d+ \| RACECHECK SUMMARY: 0 hazards, 602 comparisons in 86 runs", output),
           "racecheck counts its parts", output)
    expect("| face model | some.face |\n" in output, "it says which face model there is", output)
    with tarfile.open(folder / "out" / "logs.tar.gz") as logs:
        told = logs.extractfile("logs/racecheck.log").read().decode()
    expect(len(re.findall(r"7 passed, 0 failed, 0 hazards, ended with 0$", told, re.M)) == 86, "the log has a line of each run", told)
    expect(all(re.search(rf"\| {tool} \| ok \|.*0 errors \|", output) for tool in SANITIZERS), "each tool is in the table", output)
    shares = {call[1] for call in calls if "--share" in call[1]}
    expect(len(shares) == 64 and len(calls) == 4 + len(SANITIZERS) + 86, "each part of check_gpu runs once", output)
    if os.cpu_count() > 1:
        expect({call[0] for call in calls if "--share" in call[1]} == {"0", "1"}, "racecheck uses both GPUs", output)


def check_failures(folder):
    for part, bad, failed in (("races", "hazards", "racecheck"), ("races", "scans", "racecheck"),
                              ("sanitize", "memcheck", "memcheck"), ("sanitize", "initcheck", "initcheck"),
                              ("check", "--poison", "check-poison"), ("check", "--quick", "check-ptx check-nvrtc check-poison"), ("kernels", "decode_values", "kernels")):
        status, output, _ = run(folder, part, bad=bad)
        expect(status == 1 and f"Failed: {failed}\n" in output, f"it says that {failed} failed and ends with 1, not {status}", output)
    status, output, _ = run(folder, "check", bad="nothing")
    expect(status == 77, f"it ends with 77 without a GPU, not {status}", output)
    tool = folder / "bin" / "compute-sanitizer"
    tool.rename(folder / "hidden")
    status, output, _ = run(folder, "races")
    expect(status == 1 and "Failed: compute-sanitizer\n" in output, f"it ends with 1 without the tool, not {status}", output)
    (folder / "hidden").rename(tool)
    status, output, _ = run(folder, "chekc")
    expect(status == 64, f"it ends with 64 for a part that there is not, not {status}", output)


def check_facts(folder):
    status, output, _ = run(folder, "facts")
    expect(status == 0 and "| a fact | 3 ms |\n" in output, "the facts are part of what it says", output)
    status, output, _ = run(folder, "facts", bad="facts")
    expect(status == 1 and "Failed: facts\n" in output, f"it says that a fact does not hold and ends with 1, not {status}", output)


def check_kernels(folder):
    status, output, _ = run(folder, "kernels")
    expect(status == 0, "the kernels are profiled", output)
    for row in ("| decode_values | 1 | 3.0 | 2.00 | 3.0 | 0.5 | 25 | 40 |", "| huffman_sync | 1 | 2.0 | 2.00 | 3.0 | 0.5 | 25 | 40 |",
                "| all | 2 | 5.0 | 4.00 | 6.0 | 1.0 | | |", "### scans\n", "| read_scans | 1 | 5.0 | 2.00 | 3.0 | 0.5 | 25 | 40 |"):
        expect(row in output, f"the table has {row}", output)


CONTROL = """
[ "$1" != -d ] || { [ -z "${BAD-}" ] || exit 3; touch "$CUDA_MPS_PIPE_DIRECTORY/up"; echo started >"$CUDA_MPS_LOG_DIRECTORY/control.log"; exit 0; }
[ -e "$CUDA_MPS_PIPE_DIRECTORY/up" ] || exit 1
read -r command
case $command in
get_server_list) echo 4711 ;;
"get_client_list 4711") printf '12\\n13\\n' ;;
"quit -t 5") echo quit >>"$CALLS" ;;
*) exit 2 ;;
esac"""


def check_mps(folder):
    """bench/service/sharing.py: MPS in a folder of its own, which is ended and removed; why there is none."""
    sys.path.insert(0, str(ROOT / "bench/service"))
    import sharing
    path = folder / "bin" / sharing.CONTROL
    path.write_text(f"#!/bin/bash{CONTROL}\n")
    path.chmod(0o755)
    os.environ["PATH"], os.environ["CALLS"] = f"{folder / 'bin'}:{os.environ['PATH']}", str(folder / "calls")
    for bad, why in (("", ""), ("1", "ends with 3")):
        (folder / "calls").write_text("")
        os.environ["BAD"] = bad
        with sharing.Mps() as mps:
            expect(mps.why == why or why and why in mps.why, f"MPS is there, or not because it {why}", mps.why)
            expect(bad or (mps.servers(), mps.clients()) == ([4711], 2), "its server and clients are counted", str(mps.servers()))
            expect(bad or "started" in mps.log(), "its log is read", mps.log())
        said = (folder / "calls").read_text()
        expect(said == ("" if bad else "quit\n") and not os.path.exists(mps.folder), "it is ended and its folder removed", said)
    path.unlink()
    with sharing.Mps() as mps:
        expect("there is no" in mps.why, "without the program it says so", mps.why)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        for program, lines in PROGRAMS.items():
            path = folder / "bin" / program
            path.write_text(f"#!/bin/bash\n{lines}\n")
            path.chmod(0o755)
        check_all_right(folder)
        check_failures(folder)
        check_facts(folder)
        check_kernels(folder)
        check_mps(folder)
    print(*wrong, sep="\n", end="")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
