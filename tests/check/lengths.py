# SPDX-License-Identifier: MIT
"""Functions, files and folders stay small. CONTRIBUTING.md states the same limits. Known violations are in
lengths.known, which may only shrink; nothing exceeds the outer limits."""
import collections
import shutil
import subprocess
import sys

import tree

FUNCTION_MAX, FUNCTION_OUTER = 45, 60
FILE_MAX, FILE_OUTER = 400, 450
FOLDER_MAX = 30 # files of a folder of the product or of its unit tests, of every kind
PRODUCT = ("core", "detect", "filters", "codecs", "config", "cpu", "gpu", "server")


def functions(paths):
    """(lines, file, line, name) of every function."""
    command = ["ctags", "--languages=C,C++", "--langmap=C:+.cu.cuh", "--kinds-C=f", "--fields=+ne", "-o", "-", *paths]
    listing = subprocess.run(command, cwd=tree.ROOT, check=True, capture_output=True, text=True).stdout
    for row in listing.splitlines():
        if row.startswith("!"):
            continue
        name, path, *rest = row.split("\t")
        fields = dict(field.split(":", 1) for field in rest if ":" in field)
        if "end" in fields:
            yield int(fields["end"]) - int(fields["line"]) + 1, path, fields["line"], name


def check_files(paths):
    lines = {path: (tree.ROOT / path).read_text().count("\n") for path in paths}
    problems = [f"{path} has {count} lines, never more than {FILE_OUTER}" for path, count in lines.items() if count > FILE_OUTER]
    return problems + tree.shrinking("lengths", "file", {path: f"{count} lines, {FILE_MAX} at most"
                                                         for path, count in lines.items() if count > FILE_MAX})


def check_functions(lengths):
    problems = [f"{path}:{line} {name} has {length} lines, never more than {FUNCTION_OUTER}"
                for length, path, line, name in lengths if length > FUNCTION_OUTER]
    return problems + tree.shrinking("lengths", "function", {f"{path} {name}": f"{length} lines, {FUNCTION_MAX} at most"
                                                             for length, path, _, name in lengths if length > FUNCTION_MAX})


def check_folders():
    files = collections.Counter(tree.name(path.parent) for path in tree.files())
    return tree.shrinking("lengths", "folder", {folder: f"{count} files, {FOLDER_MAX} at most" for folder, count in files.items()
                                                if count > FOLDER_MAX and (folder.split("/")[0] in PRODUCT or folder.startswith("tests/unit"))})


def main():
    paths = [tree.name(path) for path in tree.c_files((".c", ".h", ".cu", ".cuh"))]
    problems = check_files(paths) + check_folders()
    if not shutil.which("ctags"):
        print("    no ctags: functions are not measured")
        tree.finish(problems) if problems else sys.exit(77)
    lengths = sorted(functions(paths))
    problems += check_functions(lengths)
    count = len(lengths)
    tree.finish(problems, f"{count} functions in {len(paths)} files: median {lengths[count // 2][0]} lines, "
                          f"90th percentile {lengths[count * 9 // 10][0]}, longest {lengths[-1][0]}")


main()
