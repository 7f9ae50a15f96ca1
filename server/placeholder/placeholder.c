/* SPDX-License-Identifier: MIT */
#include "server/placeholder/placeholder.h"

#include <inttypes.h>

#include "server/placeholder/blurhash.h"
#include "server/placeholder/colours.h"
#include "server/placeholder/data_url.h"
#include "server/placeholder/thumbhash.h"

static enum status write_hashes(const struct placeholder *placeholder, const struct thumbnail *thumbnail,
                                struct buf *body, struct error *err) {
    char text[BLURHASH_TEXT_MAX];
    uint8_t hash[THUMBHASH_MAX];
    blurhash_write(thumbnail, placeholder->across, placeholder->down, text);
    size_t size = thumbhash_write(thumbnail, hash);
    enum status status = buf_printf(body, err, "\"blurhash\":\"%s\",\"thumbhash\":\"", text);
    return status == ST_OK ? data_url_base64((struct bytes){hash, size}, body, err) : status;
}

static enum status write_colours(const struct thumbnail *thumbnail, struct buf *body, struct error *err) {
    const struct colour dominant = colours_dominant(thumbnail), average = colours_average(thumbnail);
    return buf_printf(body, err, "\",\"dominant\":\"#%02x%02x%02x\",\"average\":\"#%02x%02x%02x\"",
                      dominant.red, dominant.green, dominant.blue, average.red, average.green, average.blue);
}

enum status placeholder_write(const struct placeholder *placeholder, struct buf *body, struct error *err) {
    struct thumbnail thumbnail;
    thumbnail_read(&thumbnail, placeholder->source);
    enum status status = buf_printf(body, err, "{\"width\":%" PRIu32 ",\"height\":%" PRIu32 ",",
                                    placeholder->width, placeholder->height);
    status = status == ST_OK ? write_hashes(placeholder, &thumbnail, body, err) : status;
    status = status == ST_OK ? write_colours(&thumbnail, body, err) : status;
    status = status == ST_OK ? buf_printf(body, err, ",\"data_url\":\"") : status;
    status = status == ST_OK ? data_url_write(&thumbnail, body, err) : status;
    return status == ST_OK ? buf_printf(body, err, "\"}\n") : status;
}

size_t placeholder_bytes(void) {
    return data_url_bytes();
}
