/* SPDX-License-Identifier: MIT */
#include "server/search/code_reader.h"

#include "codecs/process/codec_link.h"
#include "detect/codes/reader/codes_read.h"

static enum status read_codes(void *context, const struct image *grey, int64_t deadline_ns,
                              struct codes_symbols *symbols, struct error *err) {
    struct buf found;
    buf_init(&found, sizeof symbols->symbol);
    enum status status = codec_link_read(context, grey, deadline_ns,
                                         codes_read_memory(grey->width, grey->height), &found, err);
    if (status == ST_OK &&
        codes_symbols_parse(buf_bytes(&found), grey->width, grey->height, symbols, err) != ST_OK) {
        const struct error cause = *err;
        status = fail(err, ST_INTERNAL, "%s", cause.text);
    }
    buf_finish(&found);
    return status;
}

struct codes_reader code_reader_make(struct codec_link *link) {
    return (struct codes_reader){read_codes, link};
}
