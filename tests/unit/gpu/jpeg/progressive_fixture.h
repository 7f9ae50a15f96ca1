/* SPDX-License-Identifier: MIT
 * Progressive JPEGs of many kinds, and the device's reader beside the CPU's. The device's memory ends where
 * memory ends that may not be touched, and so does the file. */
#ifndef BLURD_TESTS_PROGRESSIVE_FIXTURE_H
#define BLURD_TESTS_PROGRESSIVE_FIXTURE_H

#include "codecs/jpeg/jpeg_coefficients.h"
#include "gpu/jpeg/progressive.h"

#include <sys/mman.h>

#include "tests/unit/codecs/jpeg/jpeg_fixture.h"
#include "tests/unit/core/coefficients_fixture.h"
#include "tests/unit/gpu/engine/lane_fixture.h"
#include "tests/unit/time_limit.h"

unsigned time_limit_seconds = 600; /* kernels on the host, fiber by fiber */

enum { FILE_MAX = 1 << 24, PAGE = 4096, CPU_REFUSES = 99 };

static struct gpu_stream stream;

/* --- scripts ------------------------------------------------------------------------------------ */
/* The DC of each component on its own, in any order. */
static const jpeg_scan_info dc_alone[] = {{1, {2}, 0, 0, 0, 1},  {1, {0}, 0, 0, 0, 0}, {1, {1}, 0, 0, 0, 2},
                                          {1, {0}, 1, 63, 0, 0}, {1, {1}, 0, 0, 2, 1}, {1, {1}, 1, 63, 0, 0},
                                          {1, {2}, 1, 63, 0, 0}, {1, {2}, 0, 0, 1, 0}, {1, {1}, 0, 0, 1, 0}};
/* Two components together, bands that are divided in another way when they are refined. */
static const jpeg_scan_info divided[] = {
    {2, {0, 2}, 0, 0, 0, 2}, {1, {1}, 0, 0, 0, 1},   {2, {0, 2}, 0, 0, 2, 1},   {1, {0}, 1, 5, 0, 2},
    {1, {0}, 6, 20, 0, 2},   {1, {0}, 21, 63, 0, 2}, {1, {0}, 1, 8, 2, 1},      {1, {0}, 9, 63, 2, 1},
    {1, {0}, 1, 1, 1, 0},    {1, {0}, 2, 40, 1, 0},  {1, {0}, 41, 63, 1, 0},    {1, {1}, 1, 63, 0, 0},
    {1, {2}, 1, 63, 0, 1},   {1, {2}, 1, 63, 1, 0},  {3, {0, 1, 2}, 0, 0, 1, 0}};
/* Each bit on its own. */
static const jpeg_scan_info bits[] = {
    {3, {0, 1, 2}, 0, 0, 0, 4}, {1, {0}, 1, 63, 0, 4},      {3, {0, 1, 2}, 0, 0, 4, 3}, {1, {0}, 1, 63, 4, 3},
    {1, {0}, 1, 63, 3, 2},      {3, {0, 1, 2}, 0, 0, 3, 2}, {1, {0}, 1, 63, 2, 1},      {1, {0}, 1, 63, 1, 0},
    {3, {0, 1, 2}, 0, 0, 2, 1}, {3, {0, 1, 2}, 0, 0, 1, 0}, {1, {1}, 1, 63, 0, 1},      {1, {2}, 1, 63, 0, 1},
    {1, {2}, 1, 63, 1, 0},      {1, {1}, 1, 63, 1, 0}};
/* Grey. */
static const jpeg_scan_info grey[] = {{1, {0}, 0, 0, 0, 1},   {1, {0}, 1, 2, 0, 1},   {1, {0}, 3, 9, 0, 1},
                                      {1, {0}, 10, 31, 0, 1}, {1, {0}, 32, 32, 0, 1}, {1, {0}, 33, 63, 0, 1},
                                      {1, {0}, 1, 63, 1, 0},  {1, {0}, 0, 0, 1, 0}};

static const struct {
    const jpeg_scan_info *scans;
    int count;
} colour_scripts[] = {{NULL, 0}, {dc_alone, COUNT(dc_alone)}, {divided, COUNT(divided)}, {bits, COUNT(bits)}},
  grey_scripts[] = {{NULL, 0}, {grey, COUNT(grey)}};

/* --- files -------------------------------------------------------------------------------------- */
enum content { NOISE, SMOOTH, FLAT, MIXED, EXTREMES, CONTENTS };

struct progressive_material {
    enum content content;
    int h, v; /* factors of luma; 0: grey */
    int quality;
    const jpeg_scan_info *script; /* NULL: the usual one */
    int scripted;
    bool alike; /* the same tables of steps and codes for all components */
    unsigned restart;
    uint32_t width, height;
};

static inline uint8_t paint(const struct progressive_material *material, uint32_t x, uint32_t y, uint32_t c) {
    bool third = (x / 24 + y / 16) % 3 == 0, second = (x / 24 + y / 16) % 3 == 1;
    bool noisy = material->content == NOISE || (material->content == MIXED && third);
    bool flat = material->content == FLAT || (material->content == MIXED && second);
    uint8_t smooth = (uint8_t)(40 + (x * (2 + c) / 3 + y * (3 - c)) % 160);
    return material->content == EXTREMES ? (below(2) ? 255 : 0)
           : noisy                       ? (uint8_t)below(256)
           : flat                        ? (uint8_t)(200 + 20 * c)
                                         : smooth;
}

static inline void set_up(struct jpeg_compress_struct *cinfo, const struct progressive_material *material) {
    jpeg_set_quality(cinfo, material->quality, TRUE);
    for (int i = 0; i < cinfo->num_components; i++) {
        cinfo->comp_info[i].h_samp_factor = i || !material->h ? 1 : material->h;
        cinfo->comp_info[i].v_samp_factor = i || !material->v ? 1 : material->v;
        if (material->alike) {
            cinfo->comp_info[i].quant_tbl_no = cinfo->comp_info[i].dc_tbl_no = cinfo->comp_info[i].ac_tbl_no =
                0;
        }
    }
    jpeg_simple_progression(cinfo);
    if (material->script) {
        cinfo->scan_info = material->script;
        cinfo->num_scans = material->scripted;
    }
    cinfo->restart_interval = material->restart;
}

static inline struct buf make(const struct progressive_material *material) {
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr manager;
    unsigned char *data = NULL;
    unsigned long size = 0;
    unsigned channels = material->h ? 3 : 1;
    uint8_t *row = malloc((size_t)material->width * channels);
    JSAMPROW rows[] = {row};
    struct buf file;
    cinfo.err = recipe_errors(&manager);
    jpeg_create_compress(&cinfo);
    jpeg_mem_dest(&cinfo, &data, &size);
    cinfo.image_width = material->width;
    cinfo.image_height = material->height;
    cinfo.input_components = (int)channels;
    cinfo.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&cinfo);
    set_up(&cinfo, material);
    jpeg_start_compress(&cinfo, TRUE);
    while (cinfo.next_scanline < material->height) {
        for (uint32_t i = 0; i < material->width * channels; i++) {
            row[i] = paint(material, i / channels, cinfo.next_scanline, i % channels);
        }
        jpeg_write_scanlines(&cinfo, rows, 1);
    }
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    buf_init(&file, FILE_MAX);
    assert_int_equal(buf_append(&file, data, size, NULL), ST_OK);
    free(data);
    free(row);
    return file;
}

static inline struct image_shape shape_of(const struct progressive_material *material) {
    return (struct image_shape){.model = material->h ? PIXEL_YCBCR : PIXEL_GRAY,
                                .depth = 8,
                                .chroma_shift_x = (uint8_t)(material->h / 2),
                                .chroma_shift_y = (uint8_t)(material->v / 2),
                                .width = material->width,
                                .height = material->height};
}

/* Of every kind, by the number. */
static inline struct progressive_material any_material(size_t i) {
    static const int factors[][2] = {{2, 2}, {0, 0}, {1, 1}, {2, 1}, {4, 1}, {1, 2}, {4, 2}, {0, 0}};
    static const int qualities[] = {3, 50, 85, 100};
    static const uint32_t sizes[][2] = {{1, 1},    {8, 8},    {17, 9},   {70, 50},
                                        {131, 97}, {333, 60}, {16, 300}, {257, 31}};
    size_t factor = i % COUNT(factors), script = i / COUNT(factors) % 4, size = below(COUNT(sizes));
    struct progressive_material material = {.content = (enum content)below(CONTENTS),
                                            .h = factors[factor][0],
                                            .v = factors[factor][1],
                                            .quality = qualities[below(COUNT(qualities))],
                                            .alike = below(8) == 0,
                                            .width = sizes[size][0],
                                            .height = sizes[size][1]};
    material.script = material.h ? colour_scripts[script].scans : grey_scripts[script % 2].scans;
    material.scripted = material.h ? colour_scripts[script].count : grey_scripts[script % 2].count;
    return material;
}

/* --- memory ------------------------------------------------------------------------------------- */
/* Memory of a multiple of 256 bytes that ends before a page that may not be touched. */
struct fence {
    uint8_t *pages, *memory;
    size_t size; /* of the pages */
};

static inline struct fence fence_make(size_t size) {
    struct fence fence = {.size = bytes_align_up(size, PAGE) + 2 * PAGE};
    fence.pages = mmap(NULL, fence.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(fence.pages != MAP_FAILED);
    assert_int_equal(mprotect(fence.pages + PAGE, fence.size - 2 * PAGE, PROT_READ | PROT_WRITE), 0);
    fence.memory = fence.pages + fence.size - PAGE - size;
    memset(fence.memory, 0xa5, size);
    return fence;
}

static inline void fence_free(struct fence *fence) {
    munmap(fence->pages, fence->size);
}

/* --- both readers ------------------------------------------------------------------------------- */
struct reading {
    struct progressive_source source;
    struct fence room, memory;
    volatile uint32_t verdict;
};

/* Parses a copy of the file that ends where its memory ends. The room is as small as it can be. */
static inline enum status parse(struct bytes file, const struct image_shape *shape, struct reading *reading,
                                struct error *err) {
    static uint8_t *room;
    size_t size = progressive_room();
    room = room ? room : aligned_alloc(256, size);
    uint8_t *copy = malloc(file.size ? file.size : 1);
    memcpy(copy, file.data, file.size);
    enum status status =
        progressive_parse((struct bytes){copy, file.size}, shape, room, size, &reading->source, err);
    free(copy);
    assert_true(status == ST_OK || (status == ST_UNSUPPORTED && err->text[0]));
    if (status == ST_OK) {
        assert_int_equal(reading->source.input % 16, 0);
        assert_int_equal(reading->source.memory % 256, 0);
        reading->room = fence_make(reading->source.input);
        memcpy(reading->room.memory, room, reading->source.input);
        reading->memory = fence_make(reading->source.memory);
        reading->verdict = PROGRESSIVE_PENDING;
    }
    return status;
}

static inline void finish(struct reading *reading) {
    fence_free(&reading->room);
    fence_free(&reading->memory);
}

static inline void run(struct reading *readings, unsigned count) {
    struct progressive_picture pictures[PROGRESSIVE_PICTURES];
    struct error err = {0};
    for (unsigned i = 0; i < count; i++) {
        pictures[i] = (struct progressive_picture){(uintptr_t)readings[i].room.memory,
                                                   (uintptr_t)readings[i].memory.memory,
                                                   (uintptr_t)&readings[i].verdict};
    }
    assert_int_equal(progressive_begin(&stream, pictures, count, &err), ST_OK);
    assert_int_equal(cuda.cuStreamSynchronize(stream.handle), CUDA_SUCCESS);
}

/* Whether the CPU reads the file, and finds the values and steps that the device found. */
static inline enum status by_cpu(struct bytes file, const struct image_shape *shape,
                                 const struct reading *reading, bool *same) {
    const struct coefficients_layout *layout = &reading->source.layout;
    const struct codec_limits limits = fixture_limits();
    struct error err = {0};
    size_t room = bytes_align_up(jpeg_coefficients_bytes(layout), IMAGE_ALIGNMENT);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, room);
    enum status status = jpeg_coefficients_read(file, &limits, shape, reading->source.plain, memory, &err);
    if (status == ST_OK) {
        const struct jpeg_coefficients own = jpeg_coefficients_in(memory, layout);
        *same = coefficients_are_same(layout, shape, own.values,
                                      (const int16_t *)(const void *)reading->memory.memory) &&
                memcmp(own.head->quantiser, reading->source.head.quantiser,
                       layout->planes * sizeof own.head->quantiser[0]) == 0;
    }
    free(memory);
    return status;
}

/* --- set-up ------------------------------------------------------------------------------------- */
static inline int open_stream(void **state) {
    (void)state;
    struct error err = {0};
    return fixture_open_device() == 0 && gpu_stream_init(&stream, &device, &err) == ST_OK ? 0 : -1;
}

static inline int close_stream(void **state) {
    (void)state;
    gpu_stream_finish(&stream);
    gpu_device_close(&device);
    return 0;
}

#endif
