# SPDX-License-Identifier: MIT
"""Folders include each other in one direction only, and each library in one place."""
import re

import tree

# Who may include whom, beside itself. server, bench and tests may include all.
ALLOWED = {
    "core": set(),
    "filters": {"core"},
    "codecs": {"core"},
    "config": {"core"},
    "cpu": {"core", "filters"},
    "gpu": {"core", "filters"},
}
# Which folder has the only code that knows a library. Tests and benchmarks are free.
LIBRARIES = {
    "jpeglib.h": "codecs", "jerror.h": "codecs", "jmorecfg.h": "codecs", "turbojpeg.h": "codecs",
    "png.h": "codecs", "zlib.h": "codecs", "libdeflate.h": "codecs",
    "cuda.h": "gpu", "cudaTypedefs.h": "gpu", "nvrtc.h": "gpu", "nvml.h": "gpu",
    "microhttpd.h": "server", "gnutls/abstract.h": "server", "gnutls/gnutls.h": "server", "gnutls/x509.h": "server",
    "seccomp.h": "core gpu server",
    "cmocka.h": "tests",
}
ONE_FILE = {"microhttpd.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def main():
    problems = []
    users = {}
    for path in tree.c_files((".c", ".h", ".def", ".cu")):
        name = tree.name(path)
        folder = name.split("/")[0]
        for header in INCLUDE.findall(path.read_text()):
            target = header.split("/")[0] if "/" in header else None
            if target in tree.C_FOLDERS and folder in ALLOWED and target not in ALLOWED[folder] | {folder}:
                problems.append(f"{name} includes {header}: {folder} may include {sorted(ALLOWED[folder])}")
            if target in ("tests", "bench") and folder not in ("tests", "bench"):
                problems.append(f"{name} includes {header}")
            owner = LIBRARIES.get(header, "")
            if owner and folder not in (*owner.split(), "tests", "bench"):
                problems.append(f"{name} includes <{header}>: only {owner} may")
            if header in ONE_FILE and folder == owner:
                users.setdefault(header, set()).add(name)
    for header, names in users.items():
        if len(names) > 1:
            problems.append(f"<{header}> is included by {', '.join(sorted(names))}: one file is enough")
    tree.finish(problems)


main()
