# SPDX-License-Identifier: MIT
"""One name, one meaning: no struct tag and no public function twice in the product, and the functions of x.h begin with x.

A function may also begin with the name of its subfolder (codecs/png: png_…), with a folder's name in front of the stem, or
with the tag of a struct that the header shows: core/bytes.h has buf_append for its struct buf. Known
violations are in names.known, which may only shrink."""
import re
import shutil
import subprocess
import sys

import tree

PRODUCT = ("core", "detect", "filters", "codecs", "config", "cpu", "gpu", "server")
# Headers with functions of other names, and why.
VERBS = {
    "core/status.h": "fail, rethrow and others are verbs of every function",
    "core/numbers.h": "min_u32, divide_up and others are arithmetic of every function",
}
# One file for each instruction set, with the same functions, of which a build includes one.
VARIANT = re.compile(r"cpu/(.*/)?simd[_/]\w+\.h")
TAG = re.compile(r"^[ \t]*(?:typedef )?(?:struct|union|enum)\s+(\w+)\s*\{", re.M)
SHOWN = re.compile(r"^struct (\w+)(?: \{|;)", re.M) # defined, or declared and hidden
TEMPLATE = re.compile(r"Included (once per|after) ")


def public_functions(headers):
    """(header, name) of every function that a header declares or defines inline."""
    command = ["ctags", "--languages=C,C++", "--langmap=C:.h", "--kinds-C=fp", "-o", "-", *headers]
    listing = subprocess.run(command, cwd=tree.ROOT, check=True, capture_output=True, text=True).stdout
    for row in listing.splitlines():
        if not row.startswith("!"):
            name, header = row.split("\t")[:2]
            yield header, name


def is_named_after(header, name, tags):
    if name.startswith(tuple(f"{tag}_" for tag in tags)):
        return True
    folders, stem = header.split("/")[:-1], header.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    own = [stem, *(f"{folder}_{stem}" for folder in folders), *(f"{folder}_" for folder in folders[1:])]
    if folders[1:] == [stem]: # gpu/filters/filters.h is for all of gpu/filters
        own.append(f"{folders[0]}_")
    return name.startswith(tuple(own))


def twice(places):
    """{name: places as text} of the names with more than one place."""
    return {name: ", ".join(sorted(where)) for name, where in places.items() if len(where) > 1}


def main():
    tags, functions, headers, shown = {}, {}, [], {}
    for path in tree.c_files((".c", ".h", ".cu", ".cuh")):
        name = tree.name(path)
        if name.split("/")[0] not in PRODUCT:
            continue
        text = tree.code(path)
        for tag in TAG.findall(text):
            tags.setdefault(tag, set()).add(name)
        if path.suffix == ".h" and not VARIANT.fullmatch(name) and not TEMPLATE.search("".join(path.read_text().splitlines(True)[:6])):
            headers.append(name)
            shown[name] = SHOWN.findall(text)
    if not shutil.which("ctags"):
        print("    no ctags: names are not looked at")
        sys.exit(77)
    breaches = {}
    for header, name in set(public_functions(headers)):
        functions.setdefault(name, set()).add(header)
        if header not in VERBS and not is_named_after(header, name, shown[header]):
            breaches[name] = f"begins otherwise than its header, {header}"
    problems = [f"function {name}: {where}" for name, where in twice(functions).items()]
    problems += tree.shrinking("names", "prefix", breaches)
    problems += tree.shrinking("names", "tag", twice(tags))
    tree.finish(problems, f"{len(functions)} public functions, {len(tags)} tags; left to mend: {len(breaches)} functions, "
                          f"{len(twice(tags))} tags")


main()
