/* SPDX-License-Identifier: MIT
 * An isolated codec for tests of the processes that run it. Its files are a header, metadata and pixels; an
 * order in the header makes the library misbehave. Its functions may be called in any process. To be
 * included before cmocka, which has a macro named fail. */
#ifndef BLURD_TESTS_FAKE_CODEC_FIXTURE_H
#define BLURD_TESTS_FAKE_CODEC_FIXTURE_H

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codecs/frames.h"
#include "codecs/limits.h"
#include "core/bytes.h"
#include "core/deadline.h"
#include "core/sanitizers.h"

enum { FAKE_SOCKET = 3, FAKE_EXIF = 40 };

/* Most are obeyed by the function that they name, others by `decode`. */
enum fake_order {
    FAKE_WORKS,
    FAKE_CRASHES_IN_PROBE,
    FAKE_CRASHES,
    FAKE_ABORTS,
    FAKE_ENDS,
    FAKE_LOOPS,
    FAKE_LOOPS_DEAF, /* the same, and blocks the signal that would end it */
    FAKE_SLEEPS,
    FAKE_HOARDS,          /* allocates without end, and reports the failure */
    FAKE_GROWS,           /* keeps some memory */
    FAKE_IS_HOSTILE,      /* calls fake_attack in the probe */
    FAKE_IS_HOSTILE_LATE, /* the same in decode and encode */
    FAKE_IS_DAMAGED,
};

struct fake_file {
    char magic[4]; /* "FAKE" */
    uint32_t order, detail;
    uint32_t width, height;
    uint8_t exif[FAKE_EXIF];
    uint8_t seed;
};

/* What a process that was taken over does; set by the test before the spawner is forked. */
static void (*fake_attack)(uint32_t detail);
static void *fake_kept;

static inline struct fake_file fake_file(enum fake_order order, uint32_t detail) {
    struct fake_file file = {"FAKE", order, detail, 150, 90, {1, 2, 3}, 7};
    file.exif[FAKE_EXIF - 1] = 99;
    return file;
}

static inline bool fake_sniff(struct bytes input) {
    return input.size >= 4 && memcmp(input.data, "FAKE", 4) == 0;
}

static inline enum status fake_read(struct bytes input, struct fake_file *file, struct error *err) {
    if (!fake_sniff(input) || input.size < sizeof *file) {
        return fail(err, ST_CORRUPT, "the file is cut short");
    }
    memcpy(file, input.data, sizeof *file);
    return ST_OK;
}

static inline enum status fake_hoard(struct error *err) {
    for (;;) {
        char *memory = malloc(1 << 20);
        if (!memory) {
            return fail(err, ST_BUSY, "out of memory");
        }
        memset(memory, 1, 1 << 20);
    }
}

static inline void fake_crash(void) {
    static char *volatile nowhere;
    signal(SIGSEGV, SIG_DFL); /* cmocka has handlers */
    if (SANITIZED) {
        raise(SIGSEGV); /* the sandbox forbids it to others */
    }
    *nowhere = 1;
}

static inline void fake_block_signals(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
}

static inline enum status fake_obey(uint32_t order, uint32_t detail, struct error *err) {
    switch (order) {
    case FAKE_CRASHES:
        fake_crash();
        break;
    case FAKE_ABORTS:
        signal(SIGABRT, SIG_DFL), signal(SIGSEGV, SIG_DFL);
        abort();
    case FAKE_ENDS:
        _exit(0);
    case FAKE_LOOPS_DEAF:
        fake_block_signals();
        /* fall through */
    case FAKE_LOOPS:
        for (volatile unsigned i = 0;; i++) {
        }
    case FAKE_SLEEPS:
        for (;;) {
            pause();
        }
    case FAKE_HOARDS:
        return fake_hoard(err);
    case FAKE_GROWS:
        signal(SIGSEGV, SIG_DFL);
        fake_kept = memset(malloc(detail), 1, detail);
        break;
    case FAKE_IS_HOSTILE_LATE:
        fake_attack(detail);
        break;
    case FAKE_IS_DAMAGED:
        return fail(err, ST_CORRUPT, "row 7 is damaged");
    default:
        break;
    }
    return ST_OK;
}

/* EXIF is a view of the file, XMP is in memory of its own. `losses` tells the process. */
static inline enum status fake_probe(struct bytes input, const struct codec_limits *limits,
                                     struct picture *picture, struct error *err) {
    struct fake_file file;
    enum status status = fake_read(input, &file, err);
    status = status == ST_OK ? limits_check_size(file.width, file.height, limits, err) : status;
    if (status != ST_OK) {
        return status;
    }
    if (file.order == FAKE_CRASHES_IN_PROBE) {
        fake_crash();
    } else if (file.order == FAKE_IS_HOSTILE) {
        fake_attack(file.detail);
    }
    struct metadata *metadata = &picture->metadata;
    picture->pixels = picture->native =
        (struct image_shape){.model = PIXEL_RGB, .depth = 8, .width = file.width, .height = file.height};
    picture->progressive = true;
    picture->frames = 5;
    picture->plays = 3;
    metadata->exif = (struct bytes){input.data + offsetof(struct fake_file, exif), FAKE_EXIF};
    buf_init(&metadata->store, 1 << 20);
    status = buf_append(&metadata->store, "a packet of XMP", 15, err);
    metadata->xmp = buf_bytes(&metadata->store);
    metadata->orientation = 6;
    metadata->upright = true;
    metadata->density = (struct density){300, 300, 1, DENSITY_INCH};
    metadata->chunk_count = 2;
    metadata->chunk[0] = (struct metadata_chunk){CHUNK_ICC, 0, {input.data, 4}};
    metadata->chunk[1] = (struct metadata_chunk){CHUNK_COLOUR, 0x63494350, {metadata->xmp.data + 2, 6}};
    metadata->losses = (unsigned)getpid();
    return status;
}

static inline enum status fake_decode(struct bytes input, const struct picture *picture,
                                      const struct codec_limits *limits, const struct image *image,
                                      struct error *err) {
    struct fake_file file;
    (void)picture, (void)limits;
    enum status status = fake_read(input, &file, err);
    status = status == ST_OK ? fake_obey(file.order, file.detail, err) : status;
    for (uint32_t y = 0; y < image->height && status == ST_OK; y++) {
        for (uint32_t x = 0; x < image->width * 3; x++) {
            plane_row(&image->plane[0], y)[x] = (uint8_t)(x * 3 + y * 5 + file.seed);
        }
    }
    return status;
}

/* The quality is an order, `effort` its detail. */
static inline enum status fake_encode(const struct image *image, const struct encode_options *options,
                                      const struct metadata *metadata, struct buf *output,
                                      struct error *err) {
    enum status status = fake_obey(options->quality, options->effort, err);
    for (uint32_t y = 0; y < image->height && status == ST_OK; y++) {
        status =
            buf_append(output, plane_row(&image->plane[0], y), plane_row_bytes(&image->plane[0], 8), err);
    }
    if (metadata && status == ST_OK) {
        const struct bytes parts[] = {metadata->exif, metadata->xmp, metadata->chunk[0].data,
                                      metadata->chunk[1].data};
        status = buf_append(output, &metadata->density, sizeof metadata->density, err);
        for (unsigned i = 0; i < sizeof parts / sizeof parts[0] && status == ST_OK; i++) {
            status = buf_append(output, parts[i].data, parts[i].size, err);
        }
    }
    if (options->losses) {
        *options->losses |= 0x500;
    }
    return status;
}

static inline size_t fake_decode_bytes(const struct picture *picture, size_t input) {
    (void)picture, (void)input;
    return 4 << 20;
}

static inline size_t fake_encode_bytes(const struct image_shape *shape,
                                       const struct encode_options *options) {
    (void)shape, (void)options;
    return 4 << 20;
}

/* The order is obeyed by each frame but the first; FAKE_GROWS keeps memory of each. */
struct fake_walk {
    struct bytes input;
    uint32_t index;
    void *kept[64];
};

static inline enum status fake_walk_open(struct bytes input, const struct codec_limits *limits, void **opened,
                                         struct error *err) {
    struct fake_walk *walk = calloc(1, sizeof *walk);
    (void)limits;
    if (!walk) {
        return fail(err, ST_BUSY, "out of memory");
    }
    walk->input = input;
    *opened = walk;
    return ST_OK;
}

static inline enum status fake_walk_grow(struct fake_walk *walk, size_t size, struct error *err) {
    void *memory = malloc(size);
    walk->kept[walk->index % 64] = memory;
    return memory && memset(memory, 1, size) ? ST_OK : fail(err, ST_BUSY, "out of memory");
}

static inline enum status fake_walk_next(void *opened, const struct image *image, struct frame *frame,
                                         struct error *err) {
    struct fake_walk *walk = opened;
    struct fake_file file;
    enum status status = fake_read(walk->input, &file, err);
    if (status == ST_OK && walk->index > 0) {
        status = file.order == FAKE_GROWS ? fake_walk_grow(walk, file.detail, err)
                                          : fake_obey(file.order, file.detail, err);
    }
    for (uint32_t y = 0; y < image->height && status == ST_OK; y++) {
        memset(plane_row(&image->plane[0], y), (int)(file.seed + walk->index), 3 * (size_t)image->width);
    }
    walk->index++;
    *frame = (struct frame){.delay = walk->index, .scale = 10};
    return status;
}

static inline void fake_walk_close(void *opened) {
    struct fake_walk *walk = opened;
    for (unsigned i = 0; i < 64; i++) {
        free(walk->kept[i]);
    }
    free(walk);
}

static const struct codec_sequence fake_sequence = {
    .open = fake_walk_open, .next = fake_walk_next, .close = fake_walk_close};

/* What each frame had, which is the file in the end. The order (the quality; `effort` is its detail) is
 * obeyed by each frame but the first, FAKE_GROWS by all of them, in MiB. */
struct fake_frame {
    uint32_t time, timescale, plays;
    uint8_t first, last; /* samples of the picture */
    uint8_t exif;        /* the last byte of it */
};

struct fake_writer {
    struct sequence_shape shape;
    struct encode_options options;
    uint8_t exif;
    uint32_t count;
    struct fake_frame frame[64];
    void *kept[64];
};

static inline enum status fake_writer_open(const struct sequence_shape *shape,
                                           const struct encode_options *options,
                                           const struct metadata *metadata, void **opened,
                                           struct error *err) {
    struct fake_writer *writer = calloc(1, sizeof *writer);
    if (!writer) {
        return fail(err, ST_BUSY, "out of memory");
    }
    writer->shape = *shape;
    writer->options = *options;
    writer->exif = metadata && metadata->exif.size > 0 ? metadata->exif.data[metadata->exif.size - 1] : 0;
    if (options->losses) {
        *options->losses |= 0x300;
    }
    *opened = writer;
    return ST_OK;
}

static inline enum status fake_writer_add(void *opened, const struct image *image, uint32_t time,
                                          struct error *err) {
    struct fake_writer *writer = opened;
    const struct plane *plane = &image->plane[0];
    const unsigned i = writer->count++ % 64;
    writer->frame[i] = (struct fake_frame){
        .time = time,
        .timescale = writer->shape.timescale,
        .plays = writer->shape.plays,
        .first = plane->data[0],
        .last = plane_row(plane, image->height - 1)[plane_row_bytes(plane, 8) - 1],
        .exif = writer->exif,
    };
    if (writer->options.quality == FAKE_GROWS) {
        const size_t size = (size_t)writer->options.effort << 20;
        writer->kept[i] = malloc(size);
        return writer->kept[i] && memset(writer->kept[i], 1, size) ? ST_OK
                                                                   : fail(err, ST_BUSY, "out of memory");
    }
    return i == 0 ? ST_OK : fake_obey(writer->options.quality, writer->options.effort, err);
}

static inline enum status fake_writer_end(void *opened, struct buf *output, struct error *err) {
    const struct fake_writer *writer = opened;
    return buf_append(output, writer->frame, writer->count * sizeof writer->frame[0], err);
}

static inline void fake_writer_close(void *opened) {
    struct fake_writer *writer = opened;
    for (unsigned i = 0; i < 64; i++) {
        free(writer->kept[i]);
    }
    free(writer);
}

static const struct codec_sequence_writer fake_sequence_writer = {
    .open = fake_writer_open, .add = fake_writer_add, .end = fake_writer_end, .close = fake_writer_close};
static const struct codec_frames fake_frames = {.sequence = &fake_sequence, .writer = &fake_sequence_writer};

static const struct codec fake_codec = {
    .name = "fake",
    .title = "Fake",
    .mime = "image/fake",
    .isolated = true,
    .sniff = fake_sniff,
    .frames = &fake_frames,
    .probe = fake_probe,
    .decode = fake_decode,
    .encode = fake_encode,
    .decode_bytes = fake_decode_bytes,
    .encode_bytes = fake_encode_bytes,
};

static inline const struct codec *fake_table(enum codec_id id) {
    (void)id;
    return &fake_codec;
}

#endif
