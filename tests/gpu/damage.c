/* SPDX-License-Identifier: MIT
 * Damaged JPEGs on the GPU: it must refuse files that the CPU's decoder refuses, as a fault of the picture
 * and not of the device, and the next picture must be correct. The walk over the scan
 * (gpu/jpeg/huffman_sync.h) is tested alone, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/codec.h"
#include "gpu/engine/submitter.h"
#include "gpu/jpeg/huffman_sync.h"
#include "tests/gpu/check.h"

enum { TRIES = 300, QUICK_TRIES = 20, ROOM = 4 << 20, QUALITY = 85 };

/* A way to damage the scan of a file, which begins there. */
static void flip_bit(struct check *check, struct buf *file, size_t scan) {
    size_t at = scan + check_below(check, (unsigned)(file->size - scan - 2));
    file->data[at] ^= (uint8_t)(1U << check_below(check, 8));
}

static void cut(struct check *check, struct buf *file, size_t scan) {
    file->size = scan + check_below(check, (unsigned)(file->size - scan - 2));
}

static void cut_and_close(struct check *check, struct buf *file, size_t scan) {
    cut(check, file, scan);
    file->data[file->size++] = 0xff;
    file->data[file->size++] = 0xd9;
}

static void zero_bytes(struct check *check, struct buf *file, size_t scan) {
    size_t at = scan + check_below(check, (unsigned)(file->size - scan - 66));
    memset(file->data + at, 0, 64);
}

static void drop_bytes(struct check *check, struct buf *file, size_t scan) {
    size_t at = scan + check_below(check, (unsigned)(file->size - scan - 66));
    memmove(file->data + at, file->data + at + 64, file->size - at - 64);
    file->size -= 64;
}

static const struct {
    const char *name;
    void (*damage)(struct check *check, struct buf *file, size_t scan);
} kinds[] = {{"a bit flipped", flip_bit},
             {"cut", cut},
             {"cut, end marker", cut_and_close},
             {"64 zero bytes", zero_bytes},
             {"64 bytes missing", drop_bytes}};

static size_t scan_of(const struct buf *file) {
    for (size_t i = 2; i + 4 < file->size; i += 2 + (size_t)(file->data[i + 2] << 8 | file->data[i + 3])) {
        if (file->data[i + 1] == 0xda) {
            return i + 2 + (size_t)(file->data[i + 2] << 8 | file->data[i + 3]);
        }
    }
    return 0;
}

struct bench {
    struct check *check;
    struct submitter *submitter;
    struct chain chain;
    struct image_shape shape;
    struct image image; /* for the CPU */
    uint8_t *memory, *output;
    size_t size;
};

static enum status by_gpu(struct bench *bench, const struct buf *file) {
    struct transcode job = {.chain = &bench->chain,
                            .shape = bench->shape,
                            .input = buf_bytes(file),
                            .output = bench->output,
                            .room = ROOM,
                            .quality = QUALITY};
    struct lane_timing timing;
    struct error err = {0};
    return submitter_run(bench->submitter, &bench->check->jpeg, &job, &bench->size, &timing, &err);
}

/* Without the decoder. */
static enum status by_walk(struct bench *bench, const struct buf *file) {
    struct jpeg_stream *jpeg = &bench->check->jpeg;
    struct error err = {0};
    enum status status = huffman_sync_parse(&jpeg->sync, &jpeg->stream, buf_bytes(file), &bench->shape, &err);
    if (status == ST_OK) {
        status = huffman_sync_begin(&jpeg->sync, &jpeg->stream, buf_bytes(file), &err);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(&bench->check->cuda, &err, cuStreamSynchronize, jpeg->stream.handle);
    }
    return status == ST_OK ? huffman_sync_end(&jpeg->sync, &err) : status;
}

static enum status by_cpu(struct bench *bench, const struct buf *file) {
    static const struct codec_limits limits = {
        .max_pixels = 1 << 28, .max_side = 1 << 15, .max_scans = 100, .max_memory = 1 << 30};
    struct picture picture;
    struct error err = {0};
    enum status status = codec_probe(buf_bytes(file), &limits, &picture, &err);
    return status == ST_OK ? codec_decode(buf_bytes(file), &picture, &limits, &bench->image, &err) : status;
}

static void one_kind(struct bench *bench, const struct buf *good, size_t kind, unsigned tries) {
    struct check *check = bench->check;
    unsigned seen[2][2] = {{0}}, passed = 0, devices = 0, poisoned = 0;
    uint8_t *first = malloc(ROOM);
    struct error ignored = {0};
    must(by_gpu(bench, good), &ignored);
    size_t size = bench->size;
    memcpy(first, bench->output, size);
    for (unsigned i = 0; i < tries; i++) {
        struct buf file;
        struct error err;
        buf_init(&file, ROOM);
        must(buf_append(&file, good->data, good->size, &err), &err);
        kinds[kind].damage(check, &file, scan_of(good));
        enum status gpu = by_gpu(bench, &file), walk = by_walk(bench, &file), cpu = by_cpu(bench, &file);
        seen[cpu != ST_OK][gpu != ST_OK]++;
        passed += cpu != ST_OK && walk == ST_OK;
        devices += gpu == ST_DEVICE || walk == ST_DEVICE;
        enum status after = by_gpu(bench, good);
        poisoned += after != ST_OK || bench->size != size || memcmp(first, bench->output, size) != 0;
        buf_finish(&file);
    }
    bool right = seen[1][0] == 0 && passed == 0 && devices == 0 && poisoned == 0;
    check->passed += right;
    check->failed += !right;
    printf("  %s%-18s CPU refuses %3u: GPU refuses %3u of them (and %u others), its walk alone %u; ST_DEVICE "
           "%u, next one spoilt %u\n",
           right ? "" : "FAILED: ", kinds[kind].name, seen[1][0] + seen[1][1], seen[1][1], seen[0][1],
           seen[1][0] + seen[1][1] - passed, devices, poisoned);
    free(first);
}

void check_damage(struct check *check, struct submitter *submitter, const struct buf *good,
                  const struct image_shape *shape, bool quick) {
    struct bench bench = {.check = check, .submitter = submitter, .shape = *shape, .output = malloc(ROOM)};
    const struct blur_arguments arguments = {.sigma = 1};
    bench.memory = aligned_alloc(IMAGE_ALIGNMENT, image_layout(&bench.image, shape));
    image_place(&bench.image, bench.memory);
    check_append(&bench.chain, FILTER_BLUR, &arguments, shape);
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        one_kind(&bench, good, kind, quick ? QUICK_TRIES : TRIES);
    }
    free(bench.memory);
    free(bench.output);
}
