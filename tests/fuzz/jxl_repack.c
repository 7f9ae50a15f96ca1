/* SPDX-License-Identifier: MIT
 * A JPEG that is coded anew as JPEG XL, or the JPEG of such a file: what is made is restored to the byte. */
#include <string.h>

#include "tests/fuzz/common/fuzz.h"

enum { OUTPUT_MAX = 16 << 20 };

/* Codes the JPEG anew, or restores one; an outcome other than success is explained. */
static bool repack(struct bytes input, struct buf *output) {
    struct codec_limits limits = fuzz_limits();
    struct picture picture;
    struct error err = {0};
    buf_init(output, OUTPUT_MAX);
    if (codec_probe(input, &limits, &picture, &err) != ST_OK) {
        return false;
    }
    const bool packs = picture.codec == CODEC_JPEG;
    enum status status = ST_UNSUPPORTED;
    if (packs || picture.restorable) {
        status = codec_repack(CODEC_JXL, &picture, input, &limits, output, &err);
        fuzz_require(status == ST_OK || (err.status == status && err.text[0]), "a failure is explained");
        fuzz_require(status != ST_INTERNAL && status != ST_ARGUMENT, "the fault is the file's");
        fuzz_require(packs ? status != ST_CORRUPT : status != ST_UNSUPPORTED,
                     "the failure is one of its kind");
    }
    codec_picture_finish(&picture);
    return status == ST_OK;
}

static void check_restored(struct bytes packed, struct bytes jpeg) {
    struct buf back;
    fuzz_require(repack(packed, &back), "what was coded anew can be restored");
    fuzz_require(back.size == jpeg.size && memcmp(back.data, jpeg.data, jpeg.size) == 0,
                 "it is restored to the byte");
    buf_finish(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct bytes input = {data, size};
    enum codec_id id, made;
    struct buf output;
    if (!codec_repacks(CODEC_JXL) || !codec_find(input, &id) || (id != CODEC_JPEG && id != CODEC_JXL)) {
        return 0;
    }
    if (repack(input, &output)) {
        const bool known = codec_find(buf_bytes(&output), &made);
        fuzz_require(known && made == (id == CODEC_JPEG ? CODEC_JXL : CODEC_JPEG),
                     "the other format is made");
        if (id == CODEC_JPEG) {
            check_restored(buf_bytes(&output), input);
        }
    }
    buf_finish(&output);
    return 0;
}
