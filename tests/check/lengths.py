# SPDX-License-Identifier: MIT
"""Functions and files stay short. The aim is a median of 15 and a 90th percentile of 45
lines; what is far above fails."""
import shutil
import subprocess
import sys

import tree

FUNCTION_MAX = 60
FILE_MAX = 450


def functions(paths):
    """(lines, "file:line name") of every function."""
    command = ["ctags", "--languages=C", "--kinds-C=f", "--fields=+ne", "-o", "-", *map(str, paths)]
    listing = subprocess.run(command, cwd=tree.ROOT, check=True, capture_output=True, text=True).stdout
    for row in listing.splitlines():
        if row.startswith("!"):
            continue
        name, path, *rest = row.split("\t")
        fields = dict(field.split(":", 1) for field in rest if ":" in field)
        if "end" in fields:
            yield int(fields["end"]) - int(fields["line"]) + 1, f"{path}:{fields['line']} {name}"


def main():
    paths = [tree.name(path) for path in tree.c_files()]
    problems = []
    for path in paths:
        lines = (tree.ROOT / path).read_text().count("\n")
        if lines > FILE_MAX:
            problems.append(f"{path} has {lines} lines, {FILE_MAX} at most")
    if not shutil.which("ctags"):
        print("    no ctags: functions are not measured")
        sys.exit(1 if problems else 77)
    lengths = sorted(functions(paths))
    problems += [f"{where} has {length} lines, {FUNCTION_MAX} at most" for length, where in lengths
                 if length > FUNCTION_MAX]
    count = len(lengths)
    tree.finish(problems, f"{count} functions in {len(paths)} files: median {lengths[count // 2][0]} lines, "
                          f"90th percentile {lengths[count * 9 // 10][0]}, longest {lengths[-1][0]}")


main()
