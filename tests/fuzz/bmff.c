/* SPDX-License-Identifier: MIT
 * Boxes of AVIF and HEIC files: what the daemon reads by itself, without a library. */
#include "codecs/bmff.h"
#include "tests/fuzz/common/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size}, rest = input;
    struct bmff_box box;
    struct bmff_facts facts;
    while (bmff_next(&rest, &box)) {
        fuzz_require(box.body.data + box.body.size == rest.data, "boxes follow each other");
        fuzz_require(rest.data + rest.size == data + size, "the rest ends with the file");
    }
    fuzz_require(!bmff_look(input, &facts) || (facts.width > 0 && facts.height > 0), "a size is not 0");
    bmff_has_brand(input, "heic");
    return 0;
}
