/* SPDX-License-Identifier: MIT
 * Compares the walk over a JPEG's scan with libjpeg's verdict on the file. */
#ifndef BLURD_TESTS_WALK_FIXTURE_H
#define BLURD_TESTS_WALK_FIXTURE_H

#include "tests/unit/gpu/jpeg/jpeg_header_fixture.h"

static unsigned compared, refused, both; /* by the walk alone; by both */

/* --- the walk, and libjpeg --------------------------------------------------------------------- */
static inline enum status walk(struct bytes file, const struct image_shape *shape, struct error *err) {
    enum status status = huffman_sync_parse(&lane.sync, &lane.stream, file, shape, err);
    if (status == ST_OK) {
        assert_int_equal(huffman_sync_begin(&lane.sync, &lane.stream, file, err), ST_OK);
        assert_int_equal(cuda.cuStreamSynchronize(lane.stream.handle), CUDA_SUCCESS);
        status = huffman_sync_end(&lane.sync, err);
    }
    assert_true(status == ST_OK || (status == ST_UNSUPPORTED && err->text[0]));
    return status;
}

/* As for a request, the walk gets only files that codec_probe accepts, and their shape. The file ends where
 * its memory ends, so that sanitizers see reads beyond it. */
static inline enum status compare(const struct buf *file, const char *what) {
    struct codec_limits limits = fixture_limits();
    struct picture picture;
    struct error err = {0}, ignored = {0};
    uint8_t *copy = malloc(file->size ? file->size : 1);
    struct bytes bytes = {copy, file->size};
    memcpy(copy, file->data, file->size);
    enum status by_cpu = codec_probe(bytes, &limits, &picture, &ignored), by_walk = ST_UNSUPPORTED;
    if (by_cpu == ST_OK) {
        by_walk = walk(bytes, &picture.native, &err);
        by_cpu = fixture_try(bytes, &limits, &ignored);
    }
    if (by_walk == ST_OK && by_cpu != ST_OK) {
        fail_msg("%s: the walk calls whole what libjpeg does not: %s", what, ignored.text);
    }
    compared++;
    refused += by_walk != ST_OK && by_cpu == ST_OK;
    both += by_walk != ST_OK && by_cpu != ST_OK;
    free(copy);
    return by_walk;
}

/* Noise without a zero among its coefficients has no ends of blocks, at which walks find each other. */
static inline bool never_meets(const struct material *material, const struct error *err) {
    return material->content == NOISE && material->quality == 100 && strstr(err->text, "takes too long");
}

static inline void assert_whole(const struct material *m, const struct buf *file) {
    struct picture picture = fixture_probe(buf_bytes(file));
    struct error err = {0};
    if (walk(buf_bytes(file), &picture.native, &err) != ST_OK && !never_meets(m, &err)) {
        fail_msg("%ux%u, content %d, factors %d %d, quality %d, optimised %d, alike %d, restart %u: %s",
                 m->width, m->height, m->content, m->h, m->v, m->quality, m->optimised, m->alike, m->restart,
                 err.text);
    }
}

static inline void report(const char *what) {
    print_message("%s: %u files compared, %u refused by both, %u by the walk alone\n", what, compared, both,
                  refused);
    compared = refused = both = 0;
}

#endif
