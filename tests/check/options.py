# SPDX-License-Identifier: MIT
"""Every option is read by code outside config/, or names a detector's model, so that none is without effect."""
import re

import tree

ROW = re.compile(r"^OPTION\((\w+), \w+, (\w+),", re.M)


def main():
    rows = ROW.findall((tree.ROOT / "config/options.def").read_text())
    program = "\n".join(tree.code(path) for path in tree.c_files()
                        if tree.name(path).split("/")[0] not in ("config", "tests", "bench"))
    models = re.findall(r'\.option = "([\w-]+)"', "\n".join(path.read_text() for path in tree.ROOT.glob("detect/*/detector.c")))
    problems = []
    for kind, name in rows:
        member = name + ("_ms" if kind == "DURATION" else "")
        if name.replace("_", "-") not in models and not re.search(rf"config(?:->|\.){member}\b", program):
            problems.append(f"{name}: nothing reads config->{member}")
    tree.finish(problems, f"{len(rows)} options")


main()
