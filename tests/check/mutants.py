# SPDX-License-Identifier: MIT
"""The small bugs of `make mutants`: each kind is found in a program that has a place for it. Prints what is missing; ends
with 1 then."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mutants"))
import mutate  # noqa: E402

C = """
enum status first(int number, struct error *err) {
    return fail(err, ST_CORRUPT, "no");
}

static const struct row rows[] = {
    {1, "one"}, {2, "two"},
    LAST(3)};

enum status second(struct ops *ops, int number, struct error *err) {
    enum status status = first(number,
                               err);
    if (status == ST_OK && number > 3 &&
        number + ops->size < 9) {
        return status;
    }
    send(ops, number,
         3);
    return number ? fail(err, ST_LIMIT, "much") : ops->first(number, err);
}
"""
CU = """
template <int N>
static __device__ int inside(const struct pass &pass, int x) {
    return x >= pass.left && x < pass.right;
}
"""
EXPECTED = {
    "dropped status": ("enum status status = ((void)first(number, err), ST_OK);",
                       'return number ? fail(err, ST_LIMIT, "much") : ((void)ops->first(number, err), ST_OK);'),
    "dropped call": ("enum status status = ST_OK;", ";", 'return number ? fail(err, ST_LIMIT, "much") : ST_OK;'),
    "dropped operand": ("if (number > 3 && number + ops->size < 9) {", "if (status == ST_OK && number + ops->size < 9) {",
                        "if (status == ST_OK && number > 3) {", "if (status == ST_OK && number > 3 && ops->size < 9) {",
                        "return x >= pass.left;", "return x < pass.right;"),
    "dropped check": ("if (false && (status == ST_OK && number > 3 && number + ops->size < 9)) {", "return ops->first(number, err);",
                      'return fail(err, ST_LIMIT, "much");'),
    "dropped row": ('{2, "two"},', '{1, "one"},', "};"),
}

with tempfile.TemporaryDirectory() as root:
    folder = pathlib.Path(root) / "core"
    folder.mkdir()
    (folder / "one.c").write_text(C)
    (folder / "two.cuh").write_text(CU)
    made = {(mutant.kind, mutant.after) for name in ("core/one.c", "core/two.cuh") for mutant in mutate.mutants(name, root)}
missing = [f"{kind}: {after}" for kind, afters in EXPECTED.items() for after in afters if (kind, after) not in made]
for one in missing:
    print(f"    make mutants does not make this change any more: {one}")
sys.exit(1 if missing else 0)
