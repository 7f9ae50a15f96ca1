# SPDX-License-Identifier: MIT
"""docs/generate/figures.py finds what it is for: figures that are put into a page by hand and figures that differ from the stored one, and lets
others be."""
import pathlib
import sys
import tempfile

import tree

sys.path.insert(0, str(tree.ROOT / "docs/generate"))
import figures  # noqa: E402

BY_HAND = ("A blur takes 12 ms of a core.", "It does 1,234.5 pictures a second.", "That is 300 requests/s.", "It is 2.5 times as fast.", "It finds 98.7 % of the faces.",
           "It found 132 of 133 words.", "The image has 50.2 MB.", "| a | b |\n|---|--:|\n| c | 98.4 % |\n", "It writes 3.2 GB/s.", "| a | b |\n|---|--:|\n| c | 17 |\n| d | 18.5 |\n")
NO_FIGURES = ("`queue_target = 20ms` keeps answers fast.", "    curl 'localhost:8080/blur' # 20 ms\n", "```\n20 ms\n```\n", "Limits are 64 megapixels and 1 GiB, sigma 5, 1920x1080.",
              "<!-- results: cores -->\n| a | b |\n|---|--:|\n| c | 17 |\n<!-- end -->\n", "[It](page.md#of-20-ms) does.", "| a | b |\n|---|---|\n| c | up to 5 s |\n")


def faults():
    entries = [figures.Entry(1, "takes {one 2} ms, and", True), figures.Entry(2, "waits 20 ms", False)]
    stored = {"one": [8.99]}
    for text in BY_HAND:
        if not list(figures.unlisted(text, [])):
            yield f"a figure by hand is not found: {text}"
    for text in NO_FIGURES:
        for _, words in figures.unlisted(text, []):
            yield f"{words} is taken for a figure in: {text}"
    for number, wrong in (("9.0", 0), ("9.1", 1)):
        text = f"It takes\n{number} ms, and waits 20 ms.\n"
        settled, spans, problems = figures.settle(text, entries, stored)
        if len(problems) != wrong or settled != text.replace(number, "9.0"):
            yield f"{text!r} becomes {settled!r} with {problems}"
        if list(figures.unlisted(settled, spans)):
            yield f"the list does not cover {text!r}"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "results.md")
        path.write_text("| row | last |\n|---|---|\n| A | a 1.5x (2 and 3 ms), b 2.5x (4 and 5 ms) |\n| B | 7x |\n")
        for places, wanted in ((), [1.5]), ((r"([0-9.]+)x",), [1.5, 2.5]), ((r"and ([0-9]+) ms",), [3, 5]):
            if figures.of_tables([path], ["A"], "last", *places) != wanted:
                yield f"figures in the places {places} are not {wanted}"
    if len(figures.settle("It takes long.\n", entries, stored)[2]) != 2:
        yield "sentences of the list that are gone are not missed"
    for value, digits, wanted in ((22553, 3, "22,600"), (0.996 * 100, 3, "99.6"), (8.99, 2, "9.0"), (0.06, 3, "0.06"), (319, 3, "319"), (99.95, 4, "99.95")):
        if figures.text_of(value, digits) != wanted:
            yield f"{value} in {digits} digits is {figures.text_of(value, digits)}, not {wanted}"


tree.finish(list(faults()))
