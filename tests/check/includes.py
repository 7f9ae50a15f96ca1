# SPDX-License-Identifier: MIT
"""Folders include each other in one direction only, modules never in a circle, and each library in one place.

A module is the files with one stem: x.c, x.h, x.cu and x.cuh of one folder. Known violations are in
includes.known, which may only shrink."""
import re

import tree

SUFFIXES = (".c", ".h", ".def", ".cu", ".cuh")
FORMATS = dict(re.findall(r"^(?:READ_)?FORMAT\(\w+, (\w+)(?:, \w+, (\w+)/)?", (tree.ROOT / "codecs/formats.def").read_text(), re.M))  # folder of headers
PRODUCT = ("core", "detect", "filters", "codecs", "config", "cpu", "gpu", "server")
# Who may include whom, beside itself. server, bench and tests may include all.
ALLOWED = {
    "core": set(),
    "detect": {"core"},
    "filters": {"core", "detect"},
    "codecs": {"core"},
    "config": {"core"},
    "cpu": {"core", "detect", "filters"},
    "gpu": {"core", "detect", "filters"},
}
# The same inside a folder: the parts of its parent that a subfolder may include beside itself. "." is the
# files of the parent itself, x.h a single file. A subfolder that is not here is free.
ALLOWED_INSIDE = {
    "detect/codes": {"."},
    "detect/faces": {"."},
    "cpu/rows": set(),
    "cpu/mask": {".", "rows"},
    "gpu/front": {".", "engine/engine.h", "wire", "cuda"},
    "gpu/wire": set(),
    "gpu/engine": {".", "wire", "jpeg", "detect", "filters", "stream", "cuda"},
    "gpu/jpeg": {"stream", "cuda"},
    "gpu/filters": {".", "detect", "stream", "cuda"},
    "gpu/detect": {".", "stream", "cuda"},
    "gpu/stream": {"cuda"},
    "gpu/cuda": set(),
    "server/message": set(),
    "server/http": {".", "message", "series"},
    "server/series": {".", "message", "http"},
    "server/planner": {".", "message", "placeholder"},
    "server/queue": {"."},
    "server/hdr": {".", "picture", "planner", "queue"},
    "server/picture": {".", "evidence", "hdr", "message", "placeholder", "planner", "search"},
    "server/search": {".", "message", "planner"},
    "server/evidence": {".", "message", "planner", "search"},
    "server/placeholder": set(),
    "server/pages": {".", "message", "http"},
    "server/process": {".", "message", "http", "tracing"},
    "server/tracing": {".", "message"},
    "codecs/metadata": {"."},
    "codecs/gainmap": {".", "jpeg", "metadata", "bmff"},
    "codecs/process": {".", "metadata"},
    **{f"codecs/{name}": {".", "metadata", "bmff"} for name in FORMATS},
}
# Which folder has the only code that knows a library. Tests and benchmarks are free.
LIBRARIES = {
    "jpeglib.h": "codecs", "jerror.h": "codecs", "jmorecfg.h": "codecs", "turbojpeg.h": "codecs",
    "png.h": "codecs", "zlib.h": "codecs", "libdeflate.h": "codecs detect", "lzma.h": "gpu",
    "cuda.h": "gpu", "cudaTypedefs.h": "gpu", "nvrtc.h": "gpu", "nvml.h": "gpu",
    "microhttpd.h": "server", "gnutls/abstract.h": "server", "gnutls/crypto.h": "server", "gnutls/gnutls.h": "server", "gnutls/x509.h": "server",
    "seccomp.h": "codecs core gpu server",
    "cmocka.h": "tests",
}
ONE_FILE = {"microhttpd.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def folder_of(name):
    """The top folder whose rules count: NAME/cpu and NAME/gpu in filters or detect are the backends'."""
    parts = name.split("/")
    return parts[2] if parts[0] in ("filters", "detect") and len(parts) > 3 else parts[0]


def check_folders(name, header):
    """Between the top folders."""
    folder, target = folder_of(name), folder_of(header) if "/" in header else None
    if target in tree.C_FOLDERS and folder in ALLOWED and target not in ALLOWED[folder] | {folder}:
        yield f"{name} includes {header}: {folder} may include {sorted(ALLOWED[folder])}"
    if target in ("tests", "bench") and folder not in ("tests", "bench"):
        yield f"{name} includes {header}"


def is_inside_rule(name, header):
    """False for an include between subfolders that ALLOWED_INSIDE does not have."""
    inside = "/".join(name.split("/")[:2])
    parent = inside.split("/")[0]
    if inside not in ALLOWED_INSIDE or not header.startswith(parent + "/") or header.startswith(inside + "/"):
        return True
    rest = header[len(parent) + 1:]
    return rest in ALLOWED_INSIDE[inside] or (rest.split("/")[0] if "/" in rest else ".") in ALLOWED_INSIDE[inside]


def check_libraries(includes):
    users = {}
    for name, header in includes:
        folder, owner = folder_of(name), LIBRARIES.get(header, "codecs" if header.split("/")[0] in filter(None, FORMATS.values()) else "")
        if owner and folder not in (*owner.split(), "tests", "bench"):
            yield f"{name} includes <{header}>: only {owner} may"
        if header in ONE_FILE and folder == owner:
            users.setdefault(header, set()).add(name)
    for header, names in users.items():
        if len(names) > 1:
            yield f"<{header}> is included by {', '.join(sorted(names))}: one file is enough"


def circles(graph):
    """The strongly connected components of more than one module (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(module):
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in sorted(graph[module]):
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            component = stack[stack.index(module):]
            del stack[stack.index(module):]
            if len(component) > 1:
                found.append(component)

    for module in sorted(graph):
        if module not in index:
            visit(module)
    return found


def module_graph(includes, names):
    graph = {name.rsplit(".", 1)[0]: set() for name in names if name.split("/")[0] in PRODUCT}
    for name, header in includes:
        module, target = name.rsplit(".", 1)[0], header.rsplit(".", 1)[0]
        if module in graph and target in graph and module != target:
            graph[module].add(target)
    return graph


def main():
    names = {tree.name(path): path for path in tree.c_files(SUFFIXES)}
    includes = [(name, header) for name, path in names.items() for header in INCLUDE.findall(path.read_text())]
    problems = [problem for name, header in includes for problem in check_folders(name, header)]
    problems += check_libraries(includes)
    breaches = {f"{name} {header}": "its folder may not include that one" for name, header in includes
                if not is_inside_rule(name, header)}
    graph = module_graph(includes, names)
    rings = circles(graph)
    problems += tree.shrinking("includes", "include", breaches)
    problems += tree.shrinking("includes", "circle", {module: f"in a circle with {', '.join(sorted(graph[module] & set(ring)))}"
                                                      for ring in rings for module in ring})
    tree.finish(problems, f"{len(graph)} modules; left to mend: {len(rings)} circles of {sum(map(len, rings))} modules, "
                          f"{len(breaches)} includes between subfolders")


main()
