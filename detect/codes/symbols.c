/* SPDX-License-Identifier: MIT */
#include "detect/codes/symbols.h"

#include <string.h>

static int32_t within(int32_t at, uint32_t side) {
    return at < 0 ? 0 : at > (int32_t)side ? (int32_t)side : at;
}

enum status codes_symbols_parse(struct bytes bytes, uint32_t width, uint32_t height,
                                struct codes_symbols *symbols, struct error *err) {
    size_t count = bytes.size / sizeof symbols->symbol[0];
    symbols->count = 0;
    if (bytes.size % sizeof symbols->symbol[0] != 0 || count > CODES_SYMBOLS_MAX) {
        return fail(err, ST_DEVICE, "the reader of codes sent %zu bytes", bytes.size);
    }
    for (size_t i = 0; i < count; i++) {
        struct codes_symbol *symbol = &symbols->symbol[i];
        memcpy(symbol, bytes.data + i * sizeof *symbol, sizeof *symbol);
        for (int corner = 0; corner < 4; corner++) {
            symbol->corner[corner][0] = within(symbol->corner[corner][0], width);
            symbol->corner[corner][1] = within(symbol->corner[corner][1], height);
        }
    }
    symbols->count = (uint32_t)count;
    return ST_OK;
}
