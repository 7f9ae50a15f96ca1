/* SPDX-License-Identifier: MIT
 * What /verify reads: an envelope (first byte even), or the text of a report that was signed (odd). */
#include "server/evidence/report.h"

#include <stdlib.h>
#include <string.h>

#include "core/slot.h"
#include "server/evidence/dsse.h"
#include "server/evidence/report_text.h"
#include "tests/fuzz/common/fuzz.h"

/* Without keys nothing is trusted. */
static void read_envelope(struct bytes input) {
    static struct slot_pool *pool;
    struct slot *slot;
    struct bytes text = {0};
    char signer[REPORT_KEY_NAME_MAX + 1] = "";
    struct error err = {0};
    pool = pool ? pool : slot_pool_create((size_t)64 << 20);
    if (!pool || slot_acquire(pool, SLOT_WORK, &slot, &err) != ST_OK) {
        abort();
    }
    const enum status status = dsse_read(NULL, REPORT_TYPE, input, slot, &text, signer, &err);
    fuzz_require(status == ST_CORRUPT || status == ST_ARGUMENT, "nobody signed it");
    fuzz_require(err.text[0] && !signer[0], "a failure is explained, and names no key");
    slot_give_back(slot);
}

static enum status take(void *context, const struct report_parameter *parameter, struct error *err) {
    (void)err;
    fuzz_require(memchr(parameter->name, 0, sizeof parameter->name) &&
                     memchr(parameter->value, 0, sizeof parameter->value),
                 "texts end");
    ++*(unsigned *)context;
    return ST_OK;
}

static bool is_within(struct bytes part, struct bytes whole) {
    return part.data >= whole.data && part.data + part.size <= whole.data + whole.size;
}

static void read_text(struct bytes input) {
    struct report_text report;
    struct error err = {0};
    unsigned count = 0;
    const enum status status = report_text_read(input, &report, &err);
    fuzz_require(status == ST_OK || (status == ST_CORRUPT && err.text[0]), "a failure is explained");
    if (status == ST_OK) {
        fuzz_require(is_within(report.parameters, input) && is_within(report.redacted, input),
                     "views lie in the text");
        fuzz_require(report.version > 0 && report.input[0] && report.answer[0], "nothing is missing");
        (void)report_text_parameters(report.parameters, take, &count, &err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    (fuzz_byte(&input) % 2 ? read_text : read_envelope)(input);
    return 0;
}
