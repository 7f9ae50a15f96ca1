# SPDX-License-Identifier: MIT
"""What `make run` tells of its build at the end, which kernels it chooses and which compiler of kernels, with a pretended program and GPU. Prints what
is wrong; ends with 1 then."""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WHOLE = "blurd 0 (cuda 13.0; kernels for compute_75)\nreads JPEG and WebP; writes JPEG\nface model: /x/centerface.face\ntext model: /x/ppocr.text\n"
wrong = []


def expect(holds, what, output):
    if not holds:
        wrong.append(f"expected that {what}:\n{output}")


def built(folder, version=WHOLE, formats="webp", **files):
    """What the block says of a program with this `--version`, and of folders with these files."""
    program = folder / "blurd"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{version}END\n")
    program.chmod(0o755)
    (folder / "libblurd-zxing.so").unlink(missing_ok=True)
    if "codes" not in files:
        (folder / "libblurd-zxing.so").touch()
    for name in ("cuda.mk", "no-nvrtc", "without", "without-text"):
        (folder / name).write_text(files.get(name.replace(".", "_").replace("-", "_"), "# headers found\n"))
    done = subprocess.run([ROOT / "config/built.sh", program, folder, folder, "webp", formats, folder], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, "config/built.sh ends with 0", done.stderr)
    return done.stdout


def blocks(folder):
    said = built(folder)
    expect("NOT BUILT" not in said and "faces    /x/centerface.face\n" in said and "text     /x/ppocr.text\n" in said and "compute_75" in said, "nothing is missing", said)
    said = built(folder, WHOLE.replace("cuda 13.0; kernels for compute_75", "CPU only"), cuda_mk="# CPU-only: no proxy\n")
    expect(f"GPUs     NOT BUILT: no proxy\n" in said and f"rm -r {folder} && make run" in said, "the GPU's part is named as missing", said)
    said = built(folder, WHOLE.replace("kernels for compute_75", "no kernels, NVRTC compiles them at the start"), no_nvrtc="no wheel\n")
    expect("kernels  NOT BUILT: no wheel. They are compiled at the start" in said, "kernels are named as missing", said)
    said = built(folder, WHOLE.replace("/x/ppocr.text", "none"), without_text="no wheel\n")
    expect("text     NOT BUILT: no wheel. Requests with detect=text get 400" in said and "faces    /x/" in said, "text is named as missing", said)
    said = built(folder, WHOLE.replace("text model: /x/ppocr.text\n", ""))
    expect("text " not in said, "a detector that the program does not have is not named", said)
    said = built(folder, without="no compiler\n", codes=None)
    expect("codes    NOT BUILT: no compiler. Requests with detect=codes get 400" in said, "codes are named as missing", said)
    said = built(folder, formats="")
    expect("webp     NOT BUILT: its library was not found" in said, "a format is named as missing", said)


def kernels(folder):
    program = folder / "nvidia-smi"
    for listed, wanted in (("8.9\n9.0\n8.6\n", "compute_75.ptx sm_80.cubin sm_90.cubin"), ("12.1\n", "compute_75.ptx sm_120.cubin"),
                           ("7.0\n", "compute_75.ptx"), ("[N/A]\n", "compute_75.ptx"), (None, "compute_75.ptx")):
        program.write_text("#!/bin/sh\nexit 9\n" if listed is None else f"#!/bin/sh\nprintf '{listed}'\n")
        program.chmod(0o755)
        environment = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")
        subprocess.run([ROOT / "gpu/cuda/architectures.sh", folder / "own.mk"], env=environment, check=False)
        said = (folder / "own.mk").read_text()
        expect(said == f"OWN_KERNELS := {wanted}\n", f"GPUs {listed!r} get {wanted}", said)


def compilers(folder):
    """NVRTC of CUDA 12 comes first, as more drivers take its code. Without a package index."""
    for number, (toolkit, brought, wanted, says) in enumerate((
            ((12, 13), (), "home/lib64/libnvrtc.so.12", ""), ((13,), (12,), "out/lib/libnvrtc.so.12", ""),
            ((13,), (13,), "home/lib64/libnvrtc.so.13", "needs a driver from 580 on"), ((), (), "", "compiled when the program starts"))):
        place = folder / str(number)
        for path in ("home/include/crt/host_defines.h", *(f"home/lib64/libnvrtc.so.{version}" for version in toolkit),
                     *(f"out/lib/libnvrtc.so.{version}" for version in brought)):
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).touch()
        (place / "home/include/cuda.h").write_text("#define CUDA_VERSION 13000\n")
        done = subprocess.run([ROOT / "gpu/cuda/cuda_headers.sh", place / "out", place / "home"], env=dict(os.environ, PIP_NO_INDEX="1"),
                              capture_output=True, text=True, check=False)
        said = (place / "out/cuda.mk").read_text() + done.stderr
        expect(f"NVRTC := {wanted and place / wanted}\n" in said and says in said, f"NVRTC is {wanted or 'missing'}, and it says '{says}'", said)


with tempfile.TemporaryDirectory() as name:
    blocks(pathlib.Path(name))
    kernels(pathlib.Path(name))
    compilers(pathlib.Path(name))
for one in wrong:
    print(f"    {one}")
sys.exit(1 if wrong else 0)
