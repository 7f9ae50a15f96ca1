# SPDX-License-Identifier: MIT
"""The list of the site's pages has each page of docs/ once, and none that is not there. The gallery has a line for each filter, each
detector, each fill and each shape. It does without the packages that build the site."""
import collections
import re

import tree

LISTED = re.compile(r"^ +- (?:[^:\n]+: )?([\w./-]+\.md|[\w./-]+/\*)$", re.M)
LINE = re.compile(r"^    curl -f .*$", re.M)
MADE = "made/" # by docs/site/build.py
ROOT_PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
LOOKS = ("/redact?region=", "fill=ring", "fill=mean", "fill=tiles", "fill=ffd26f", "/pixelate?block=16&mode=redact", "/blur?sigma=10&mode=redact",
         "region=ellipse:", "region=polygon:", "feather=", "invert=true", "mask=@", "keep=", "except=")


def check_list(text, pages):
    """Problems of the list in the text of mkdocs.yml; pages are those that there are."""
    listed = []
    for name in LISTED.findall(text.partition("\nnav:\n")[2]):
        inside = [page for page in pages if name.endswith("/*") and page.rpartition("/")[0] == name[:-2]]
        listed += inside or [name]
    missing = [name for name in pages if name not in listed]
    return [f"{name} is not in the list of pages" for name in missing] + \
        [f"{name} is listed, and is not there" for name in listed if name not in pages and not name.startswith(MADE)] + \
        [f"{name} is listed {count} times" for name, count in collections.Counter(listed).items() if count > 1]


def check_gallery(text, filters, detectors):
    lines = "\n".join(LINE.findall(text))
    problems = [f"no line shows {name}" for name in filters if not re.search(rf"(localhost:8080/|[=|]){name}\b", lines)]
    problems += [f"no line hides {name}" for name in detectors if not re.search(rf"/redact\?detect={name}\b", lines)]
    problems += [f"no line has {look}" for look in LOOKS if look not in lines]
    made = collections.Counter(re.findall(r" -o (\S+)$", lines, re.M))
    return problems + [f"{name} is made by {count} lines" for name, count in made.items() if count > 1]


def rows(path, kind):
    return re.findall(rf"^{kind}\(\w+, (\w+)", (tree.ROOT / path).read_text(), re.M)


def main():
    pages = [tree.name(path) for path in tree.files(".md") if tree.name(path).startswith(("docs/", "clients/")) or tree.name(path) in ROOT_PAGES]
    problems = [f"docs/site/mkdocs.yml: {one}" for one in check_list((tree.ROOT / "docs/site/mkdocs.yml").read_text(), pages)]
    problems += [f"docs/gallery.md: {one}" for one in check_gallery(
        (tree.ROOT / "docs/gallery.md").read_text(), [*rows("filters/filters.def", "FILTER"), "pipeline"], rows("detect/detectors.def", "DETECTOR"))]
    # The check itself finds what it is for.
    assert check_list("\nnav:\n  - A: a.md\n  - A: a.md\n  - c.md\n", ["a.md", "b.md"]) == [
        "b.md is not in the list of pages", "c.md is listed, and is not there", "a.md is listed 2 times"]
    tree.finish(problems)


main()
