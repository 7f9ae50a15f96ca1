/* SPDX-License-Identifier: MIT
 * JPEGs of every kind that gpu/jpeg/jpeg_header.h takes, ways to damage them, those of a corpus, and a lane
 * of the fake driver to walk them with. CORPUS=folder: another corpus than ../shared/corpus. */
#ifndef BLURD_TESTS_SCAN_FIXTURE_H
#define BLURD_TESTS_SCAN_FIXTURE_H

#include "gpu/jpeg/huffman_sync.h"

#include <ftw.h>
#include <unistd.h>

#include "tests/unit/codecs/jpeg/jpeg_fixture.h"
#include "tests/unit/gpu/engine/lane_fixture.h"
#include "tests/unit/time_limit.h"

unsigned time_limit_seconds = 600; /* kernels on the host, fiber by fiber */

enum { FILE_MAX = 1 << 26 };

/* --- files ------------------------------------------------------------------------------------- */
enum content { NOISE, SMOOTH, FLAT, MIXED, CONTENTS };

struct material {
    enum content content;
    int h, v; /* factors of luma; 0: grey */
    int quality;
    bool optimised, alike; /* made for the picture; the same tables for all components */
    unsigned restart;
    uint32_t width, height;
};

static inline void paint(uint8_t *row, const struct material *material, uint32_t y, unsigned channels) {
    for (uint32_t i = 0; i < material->width * channels; i++) {
        uint32_t x = i / channels, c = i % channels;
        uint32_t smooth = 40 + (x * (2 + c) / 3 + y * (3 - c)) % 160;
        bool noisy = material->content == NOISE || (material->content == MIXED && (x / 48 + y / 32) % 3 == 0);
        bool flat = material->content == FLAT || (material->content == MIXED && (x / 48 + y / 32) % 3 == 1);
        row[i] = (uint8_t)(noisy ? below(256) : flat ? 200 + 20 * c : smooth);
    }
}

static inline void set_tables(struct jpeg_compress_struct *cinfo, const struct material *material) {
    for (int i = 0; i < cinfo->num_components; i++) {
        cinfo->comp_info[i].h_samp_factor = i || !material->h ? 1 : material->h;
        cinfo->comp_info[i].v_samp_factor = i || !material->v ? 1 : material->v;
        if (material->alike) {
            cinfo->comp_info[i].dc_tbl_no = cinfo->comp_info[i].ac_tbl_no = 0;
        }
    }
    jpeg_set_quality(cinfo, material->quality, TRUE);
    cinfo->optimize_coding = material->optimised;
    cinfo->restart_interval = material->restart;
}

static inline struct buf make(const struct material *material) {
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr manager;
    unsigned char *data = NULL;
    unsigned long size = 0;
    unsigned channels = material->h ? 3 : 1;
    uint8_t *row = malloc((size_t)material->width * channels);
    JSAMPROW rows[] = {row};
    cinfo.err = recipe_errors(&manager);
    jpeg_create_compress(&cinfo);
    jpeg_mem_dest(&cinfo, &data, &size);
    cinfo.image_width = material->width;
    cinfo.image_height = material->height;
    cinfo.input_components = (int)channels;
    cinfo.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&cinfo);
    set_tables(&cinfo, material);
    jpeg_start_compress(&cinfo, TRUE);
    while (cinfo.next_scanline < material->height) {
        paint(row, material, cinfo.next_scanline, channels);
        jpeg_write_scanlines(&cinfo, rows, 1);
    }
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    struct buf file;
    buf_init(&file, FILE_MAX);
    assert_int_equal(buf_append(&file, data, size, NULL), ST_OK);
    free(data);
    free(row);
    return file;
}

static inline size_t scan_of(const struct buf *file) {
    size_t at = 2;
    while (file->data[at + 1] != 0xda) {
        at += 2 + bytes_be16(file->data + at + 2);
    }
    return at + 2 + bytes_be16(file->data + at + 2);
}

/* --- of every kind ---------------------------------------------------------------------------- */
static const int factors[][2] = {{2, 2}, {2, 1}, {1, 2}, {1, 1}, {4, 1}, {4, 2}, {1, 4}, {0, 0}};
static const int qualities[] = {3, 50, 85, 100};
static const unsigned restarts[] = {0, 1, 7};

static inline struct material any_material(size_t i) {
    static const uint32_t sizes[][2] = {{1, 1}, {8, 8}, {17, 9}, {70, 50}, {131, 97}, {333, 211}, {16, 600}};
    struct material material = {.content = i % CONTENTS,
                                .h = factors[i / CONTENTS % COUNT(factors)][0],
                                .v = factors[i / CONTENTS % COUNT(factors)][1],
                                .quality = qualities[below(COUNT(qualities))],
                                .optimised = below(2),
                                .alike = below(8) == 0,
                                .restart = restarts[below(COUNT(restarts))]};
    size_t size = below(COUNT(sizes));
    material.width = sizes[size][0];
    material.height = sizes[size][1];
    return material;
}

/* --- at the border of two ranges --------------------------------------------------------------- */
enum { BORDER_FILES = 120 };

/* Files whose scans are longer than a range, with stuffing or markers in every place about the border. */
static inline struct buf border_file(size_t i) {
    bool markers = i % 2;
    struct material material = {.content = markers ? (i / 2 % 2 ? SMOOTH : MIXED) : NOISE,
                                .h = i % 3 == 0,
                                .v = i % 3 == 0,
                                .quality = markers ? 40 + (int)(i / 4) : 97,
                                .optimised = i % 5 == 0,
                                .restart = markers,
                                .width = markers ? 536 : 128 + (uint32_t)i % 16,
                                .height = markers ? 520 : 160 + (uint32_t)i % 8};
    return make(&material);
}

/* What stands about the border: bit 0: stuffing across it, 1: a marker across it, 2: a marker behind it. */
static inline unsigned border_kind(const struct buf *file, size_t scan) {
    size_t at = scan + KERNEL_SYNC_RANGE;
    if (at + 2 >= file->size) {
        return 0;
    }
    const uint8_t *byte = file->data + at;
    bool across = byte[-1] == 0xff;
    return (across && byte[0] == 0 ? 1U : 0) | (across && byte[0] >= 0xd0 ? 2U : 0) |
           (byte[0] == 0xff && byte[1] >= 0xd0 ? 4U : 0);
}

/* --- damage ------------------------------------------------------------------------------------ */
static inline void flip_bit(struct buf *file, size_t scan) {
    file->data[scan + below(file->size - scan)] ^= (uint8_t)(1U << below(8));
}

static inline void flip_header(struct buf *file, size_t scan) {
    file->data[below(scan)] ^= (uint8_t)(1U << below(8));
}

static inline void set_byte(struct buf *file, size_t scan) {
    static const uint8_t values[] = {0, 0xff, 0xd0, 0xd9, 0x80, 0x55};
    file->data[scan + below(file->size - scan)] = values[below(COUNT(values))];
}

static inline void cut_and_close(struct buf *file, size_t scan) {
    file->size = scan + below(file->size - scan - 2);
    file->data[file->size++] = 0xff;
    file->data[file->size++] = 0xd9;
}

static inline size_t some(const struct buf *file, size_t scan) {
    size_t most = (file->size - scan) / 2;
    return 1 + below(most < 64 ? most : 64);
}

static inline void zero_bytes(struct buf *file, size_t scan) {
    size_t count = some(file, scan);
    memset(file->data + scan + below(file->size - scan - count), 0, count);
}

static inline void drop_bytes(struct buf *file, size_t scan) {
    size_t count = some(file, scan), at = scan + below(file->size - scan - count);
    memmove(file->data + at, file->data + at + count, file->size - at - count);
    file->size -= count;
}

static inline void insert_bytes(struct buf *file, size_t scan) {
    uint8_t bytes[64];
    size_t count = 1 + below(sizeof bytes);
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)below(256);
    }
    fixture_insert(file, scan + below(file->size - scan), bytes, count);
}

static inline void repeat_bytes(struct buf *file, size_t scan) {
    size_t count = some(file, scan), at = scan + below(file->size - scan - count);
    uint8_t bytes[64];
    memcpy(bytes, file->data + at, count);
    fixture_insert(file, at, bytes, count);
}

static const struct {
    const char *name;
    void (*damage)(struct buf *file, size_t scan);
} kinds[] = {{"a bit flipped", flip_bit},      {"a bit of the header flipped", flip_header},
             {"a byte set", set_byte},         {"cut, end marker", cut_and_close},
             {"bytes zeroed", zero_bytes},     {"bytes missing", drop_bytes},
             {"bytes inserted", insert_bytes}, {"bytes repeated", repeat_bytes}};

/* --- the corpus -------------------------------------------------------------------------------- */
static inline bool read_whole(const char *path, off_t size, struct buf *file) {
    FILE *stream = fopen(path, "rb");
    buf_init(file, FILE_MAX);
    bool good = stream && size <= FILE_MAX && buf_reserve(file, (size_t)size + 1, NULL) == ST_OK;
    file->size = good ? fread(file->data, 1, (size_t)size, stream) : 0;
    if (stream) {
        fclose(stream);
    }
    return file->size > 0;
}

/* Called for each JPEG that codec_probe has accepted. */
typedef void corpus_visitor(const char *path, const struct buf *file, const struct picture *picture);

static struct {
    uint64_t max_pixels;
    corpus_visitor *visit;
} corpus;

static inline int visit_file(const char *path, const struct stat *status, int type, struct FTW *ignored) {
    (void)ignored;
    struct codec_limits limits = fixture_limits();
    struct picture picture;
    struct buf file = {0};
    struct error err = {0};
    limits.max_pixels = corpus.max_pixels;
    if (type == FTW_F && read_whole(path, status->st_size, &file) &&
        codec_sniff(buf_bytes(&file)) == codec_get(CODEC_JPEG) &&
        codec_probe(buf_bytes(&file), &limits, &picture, &err) == ST_OK && !picture.progressive) {
        corpus.visit(path, &file, &picture);
    }
    buf_finish(&file);
    return 0;
}

/* Each JPEG of the corpus that is neither progressive nor larger. Without a corpus the test is skipped. */
static inline void visit_corpus(uint64_t max_pixels, corpus_visitor *visit) {
    const char *folder = getenv("CORPUS") ? getenv("CORPUS") : "../shared/corpus";
    if (access(folder, R_OK) != 0) {
        print_message("no corpus at %s: left out\n", folder);
        skip();
    }
    corpus.max_pixels = max_pixels;
    corpus.visit = visit;
    nftw(folder, visit_file, 16, FTW_PHYS);
}

/* --- set-up ------------------------------------------------------------------------------------ */
#endif
