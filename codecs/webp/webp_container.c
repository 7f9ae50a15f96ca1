/* SPDX-License-Identifier: MIT
 * libwebp writes a header, a VP8X chunk if there is an alpha chunk, and the picture. A file with metadata has
 * a header, VP8X, the profile, the picture, EXIF and XMP. The room before libwebp's file is such that an
 * opaque picture already lies in its final place. */
#include "codecs/webp/webp_container.h"

#include <string.h>

#include "codecs/webp/webp_chunks.h"

enum { VP8X_CHUNK = WEBP_CHUNK_HEADER + WEBP_VP8X_SIZE };

static unsigned flags_of(const struct carried *carried) {
    return (carried->profile.size > 0 ? WEBP_ICC : 0u) | (carried->exif.size > 0 ? WEBP_EXIF : 0u) |
           (carried->xmp.size > 0 ? WEBP_XMP : 0u);
}

static size_t chunk_size(const struct buf *data) {
    return data->size > 0 ? WEBP_CHUNK_HEADER + data->size + (data->size & 1) : 0;
}

/* Bytes of the chunks that a file with metadata has before its picture. */
static size_t front_size(const struct carried *carried) {
    return flags_of(carried) ? VP8X_CHUNK + chunk_size(&carried->profile) : 0;
}

enum status webp_container_open(struct webp_container *container, struct error *err) {
    struct buf *output = container->output;
    size_t front = front_size(container->carried);
    container->start = output->size;
    enum status status = buf_reserve(output, front, err);
    if (status == ST_OK && front > 0) {
        memset(output->data + output->size, 0, front);
        output->size += front;
    }
    return status;
}

/* The front has room in front of the picture: the parts are put into it as into a buffer of its own. */
static enum status write_front(const struct webp_container *container, const struct webp_file *file,
                               struct error *err) {
    const struct carried *carried = container->carried;
    uint8_t header[WEBP_VP8X_SIZE] = {(uint8_t)(flags_of(carried) | (file->alpha ? WEBP_ALPHA : 0u))};
    struct buf front;
    webp_put_le24(header + 4, file->width - 1);
    webp_put_le24(header + 7, file->height - 1);
    buf_init_fixed(&front, container->output->data + container->start,
                   WEBP_FILE_HEADER + front_size(carried));
    enum status status = buf_append(&front, "RIFF\0\0\0\0WEBP", WEBP_FILE_HEADER, err);
    if (status == ST_OK) {
        status = webp_chunks_put(&front, webp_tag("VP8X"), (struct bytes){header, sizeof header}, err);
    }
    return status == ST_OK && carried->profile.size > 0
               ? webp_chunks_put(&front, webp_tag("ICCP"), buf_bytes(&carried->profile), err)
               : status;
}

static enum status write_back(const struct webp_container *container, struct error *err) {
    const struct carried *carried = container->carried;
    struct buf *output = container->output;
    enum status status = ST_OK;
    if (carried->exif.size > 0) {
        status = webp_chunks_put(output, webp_tag("EXIF"), buf_bytes(&carried->exif), err);
    }
    if (status == ST_OK && carried->xmp.size > 0) {
        status = webp_chunks_put(output, webp_tag("XMP "), buf_bytes(&carried->xmp), err);
    }
    size_t size = output->size - container->start - 8;
    if (status == ST_OK && size > UINT32_MAX) {
        return fail(err, ST_LIMIT, "a WebP would have %zu bytes; the format's limit is 4 GiB", size);
    }
    if (status == ST_OK) {
        webp_put_le32(output->data + container->start + 4, (uint32_t)size);
    }
    return status;
}

enum status webp_container_close(struct webp_container *container, struct error *err) {
    struct buf *output = container->output;
    size_t front = front_size(container->carried);
    struct bytes made = {output->data + container->start + front, output->size - container->start - front};
    struct webp_file file;
    if (front == 0) {
        return ST_OK;
    }
    if (webp_chunks_read(made, &file, err) != ST_OK) {
        return fail(err, ST_INTERNAL, "WebP library wrote a file that cannot be read");
    }
    /* With alpha the picture moves towards the front, where libwebp's VP8X was. */
    uint8_t *picture = output->data + container->start + WEBP_FILE_HEADER + front;
    size_t size = (size_t)(made.data + made.size - file.frame.data);
    memmove(picture, file.frame.data, size);
    output->size = (size_t)(picture - output->data) + size;
    enum status status = write_front(container, &file, err);
    return status == ST_OK ? write_back(container, err) : status;
}
