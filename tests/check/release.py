# SPDX-License-Identifier: MIT
"""The version and the addresses of the project, which core/version.h has, are the same in every file that names them. On a copy of the
tree, config/home.sh writes other addresses, after which its own check finds nothing reserved, and finds what is put back."""
import pathlib
import re
import shutil
import subprocess
import tempfile

import tree

FACTS = dict(re.findall(r'#define BLURD_(\w+) "(.*)"', (tree.ROOT / "core/version.h").read_text()))
VERSION, HOME, DOCS, IMAGE = (FACTS[name] for name in ("VERSION", "HOME_URL", "DOCS_URL", "IMAGE"))
# (file, pattern of a line, what each such line says): the pattern must be found.
PLACES = [
    ("Dockerfile", r"^ARG VERSION=(\S+)$", VERSION),
    ("docker/debian/changelog", r"\Ablurd \((\S+)\)", VERSION),
    ("docker/helm/Chart.yaml", r"^version: (\S+)$", VERSION),
    ("docker/helm/Chart.yaml", r"^appVersion: (\S+)$", VERSION),
    ("CHANGELOG.md", r"\A(?s:.*?)^## (\d\S*)", VERSION),
    ("clients/python/pyproject.toml", r'^Homepage = "(.*)"$', HOME),
    ("clients/python/pyproject.toml", r'^Documentation = "(.*)"$', f"{DOCS}/clients/python/README.md"),
    ("docker/helm/Chart.yaml", r"^home: (\S+)$", HOME),
    ("docker/helm/Chart.yaml", r"^sources: \[(\S+)\]$", HOME),
    ("docker/helm/values.yaml", r"^  repository: (\S+)$", IMAGE),
    ("docker/debian/control", r"^Homepage: (\S+)$", HOME),
    ("docker/debian/copyright", r"^Source: (\S+)$", HOME),
    ("docker/prometheus/alerts.yml", r"runbook_url: ([^#]+)#", f"{DOCS}/docs/operations.md"),
    ("docker/prometheus/alerts_test.yml", r"runbook_url: ([^#]+)#", f"{DOCS}/docs/operations.md"),
    ("Dockerfile", r'^ .*image\.(?:url|source)="(\S+)"', HOME),
    ("README.md", r"^    git clone (\S+) blurd", HOME),
    ("SECURITY.md", r"vulnerabilities privately at <(\S+)>", HOME),
    *(place for kind in ("base", "batch", "knative") for place in (
        (f"docker/kubernetes/{kind}/kustomization.yaml", r"^    newName: (\S+)$", IMAGE),
        (f"docker/kubernetes/{kind}/kustomization.yaml", r"^    newTag: (\S+)$", VERSION))),
]
# Pages name a version in the names of an image, of a package and of an archive. Stored results and the changelog have older ones.
NAMED = re.compile(r"(?:\bblurd[:_ -]|\bv)(\d+\.\d+\.\d+)\b")
OTHER = "https://github.com/other/Blurd.x"


def differing(name, pattern, wanted):
    found = re.findall(pattern, (tree.ROOT / name).read_text(), re.M)
    if not found:
        return [f"{name} has no line {pattern}, which says {wanted}"]
    return [f"{name} says {one}, and core/version.h {wanted}" for one in found if one != wanted]


def pages():
    for path in tree.files(".md"):
        if path.name != "CHANGELOG.md" and not tree.name(path).startswith("bench/results"):
            yield from (f"{tree.name(path)} names version {one}, and core/version.h {VERSION}"
                        for one in NAMED.findall(path.read_text()) if one != VERSION)


def home(folder, *arguments):
    done = subprocess.run([str(folder / "config/home.sh"), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def moving():
    """Problems of config/home.sh, on a copy without git, as an archive of the sources is."""
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        for path in tree.files():
            copy = folder / path.relative_to(tree.ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if not tree.name(path).startswith("bench/results"):
                shutil.copy2(path, copy)
        if home(folder, "ftp://example.org/x")[0] != 2 or home(folder, OTHER, "--image", "blurd:1")[0] != 2:
            yield "config/home.sh takes an address that is none"
        for arguments, wanted in (([OTHER], {OTHER, OTHER + "/blob/HEAD", "ghcr.io/other/blurd.x"}),
                                  ([OTHER + "y", "--docs", "https://d.org/d", "--image", "r.org:5000/i"], {OTHER + "y", "https://d.org/d", "r.org:5000/i"})):
            status, said = home(folder, *arguments)
            facts = dict(re.findall(r'#define BLURD_(\w+) "(.*)"', (folder / "core/version.h").read_text()))
            if status or {facts[name] for name in ("HOME_URL", "DOCS_URL", "IMAGE")} != wanted:
                yield f"config/home.sh {arguments} exits with {status}, and the addresses are {facts}: {said}"
            status, said = home(folder, "--check")
            if status or said:
                yield f"after config/home.sh {arguments} the check exits with {status}: {said}"
        for name, pattern, told in PLACES:
            old = {HOME: OTHER + "y", IMAGE: "r.org:5000/i", VERSION: VERSION}.get(told, told.replace(DOCS, "https://d.org/d"))
            if set(re.findall(pattern, (folder / name).read_text(), re.M)) != {old}:
                yield f"config/home.sh left {pattern} in {name}"
        # The one with a reserved host and the one with a text in place of an address are found, by file and line.
        (folder / "docs/new.md").write_text("one\nSee https://docs.example.com/blurd and URL-OF-THIS.\n")
        status, said = home(folder, "--check")
        if status != 1 or said != "docs/new.md:2: docs.example.com\ndocs/new.md:2: URL-OF-\n":
            yield f"config/home.sh --check exits with {status} for an address that was put back: {said!r}"


def main():
    problems = [problem for place in PLACES for problem in differing(*place)]
    tree.finish([*problems, *pages(), *moving()])


main()
