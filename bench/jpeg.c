/* SPDX-License-Identifier: MIT
 * Time of decoding JPEGs to planes by the own decoder, at each instruction set, beside libjpeg-turbo: the
 * fastest of several runs in milliseconds, all of a picture in turns, and whether the samples are the same.
 * With --pixels, of decoding to RGB. With --encode, of encoding any picture at quality 85 by the own encoder
 * and by libjpeg-turbo, with the standard's Huffman tables (upper line) and with those of the picture (lower
 * line). With --patch, of changing a square of 200 x 200 pixels in the middle of a JPEG, where each of the
 * two writes the file. A report, not a test.
 *
 *     jpeg [--pixels|--encode|--patch] [--only NAME] [--runs N] FILE...
 *
 * --only: just this instruction set, or "turbo", without comparison, as suits counters of instructions; not
 * for --patch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codecs/codec.h"
#include "codecs/jpeg/baseline/baseline.h"
#include "codecs/jpeg/baseline/jpeg_enc_level.h"
#include "codecs/jpeg/jpeg_patch.h"
#include "codecs/jpeg/jpeg_planes.h"
#include "codecs/jpeg/sequential/jpeg_dec_scan.h"

enum { RUNS_MAX = 1000, FILE_MAX = 256 << 20, WAYS = SEQUENTIAL_LEVELS_MAX + 1, QUALITY = 85, SQUARE = 200 };
_Static_assert((int)JPEG_ENC_LEVELS_MAX == (int)SEQUENTIAL_LEVELS_MAX,
               "the totals have a column for each level");

static unsigned runs = 9;
static const struct jpeg_dec_level *levels[SEQUENTIAL_LEVELS_MAX + 1];
static const struct jpeg_enc_level *encoders[JPEG_ENC_LEVELS_MAX + 1];
static bool pixels, encodes, patches;
static const char *only; /* NULL: all */
static double total[2]
                   [WAYS]; /* the last one is libjpeg-turbo; encoding with tables of the picture is second */
static size_t total_bytes[2];
static unsigned pictures;

static double cpu_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static struct buf read_file(const char *path) {
    struct buf file;
    buf_init(&file, FILE_MAX);
    FILE *stream = fopen(path, "rb");
    uint8_t part[65536];
    for (size_t size = 1; stream && size > 0;) {
        size = fread(part, 1, sizeof part, stream);
        if (buf_append(&file, part, size, NULL) != ST_OK) {
            break;
        }
    }
    if (stream) {
        fclose(stream);
    }
    return file;
}

static struct image make_image(const struct image_shape *shape) {
    struct image image;
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, image_layout(&image, shape));
    if (!memory) {
        exit(1);
    }
    image_place(&image, memory);
    return image;
}

static bool same_samples(const struct image *a, const struct image *b) {
    bool same = true;
    for (unsigned p = 0; p < a->plane_count; p++) {
        for (uint32_t y = 0; y < a->plane[p].height && same; y++) {
            same = memcmp(plane_row(&a->plane[p], y), plane_row(&b->plane[p], y),
                          plane_row_bytes(&a->plane[p], a->depth)) == 0;
        }
    }
    return same;
}

/* Whether this processor has the way, and it is asked for. */
static bool is_wanted(unsigned way) {
    if (way == WAYS - 1) {
        return !only || strcmp(only, "turbo") == 0;
    }
    const char *name = !levels[way] || !encoders[way] ? NULL
                       : encodes                      ? encoders[way]->name
                                                      : levels[way]->name;
    return name && (!only || strcmp(only, name) == 0);
}

static const char *verdict(bool same) {
    return only ? "" : same ? "same" : "DIFFERENT";
}

/* Milliseconds, or a negative number when the decoder leaves the picture to others. */
static double decode_once(unsigned way, struct bytes file, const struct picture *picture,
                          const struct codec_limits *limits, const struct image *image) {
    double start = cpu_ms();
    bool declined = false;
    uint32_t rows_reported;
    enum status status =
        way == WAYS - 1 ? codec_decode(file, picture, limits, image, NULL)
        : pixels        ? jpeg_pixels_decode_at(levels[way], file, limits, &picture->native, image, &declined,
                                                &rows_reported, NULL)
                 : jpeg_planes_decode_at(levels[way], file, limits, image, &declined, &rows_reported, NULL);
    return status == ST_OK && !declined ? cpu_ms() - start : -1;
}

static void bench_picture(const char *path, struct bytes file, const struct picture *picture,
                          const struct codec_limits *limits) {
    const struct image_shape *shape = pixels ? &picture->pixels : &picture->native;
    struct image own = make_image(shape), turbo = make_image(shape);
    double best[WAYS];
    bool known = true, same = true;
    for (unsigned way = 0; way < WAYS; way++) {
        best[way] = 1e9;
    }
    for (unsigned run = 0; run < runs && known; run++) {
        for (unsigned i = 0; i < WAYS; i++) {
            unsigned way = WAYS - 1 - i;
            if (!is_wanted(way)) {
                continue;
            }
            double ms = decode_once(way, file, picture, limits, way == WAYS - 1 ? &turbo : &own);
            known = known && ms >= 0;
            same = same && (way == WAYS - 1 || !known || same_samples(&own, &turbo));
            best[way] = ms < best[way] ? ms : best[way];
        }
    }
    printf("%-40.40s %5u x %-5u %8zu bytes ", path, picture->native.width, picture->native.height, file.size);
    for (unsigned way = 0; way < WAYS && known; way++) {
        if (is_wanted(way)) {
            printf(" %8.3f", best[way]);
            total[0][way] += best[way];
        }
    }
    printf("  %s\n", !known ? "left to libjpeg-turbo" : verdict(same));
    pictures += known;
    free(own.plane[0].data);
    free(turbo.plane[0].data);
}

static double encode_once(unsigned way, const struct image *image, bool optimal, struct buf *file) {
    const struct encode_options options = {.quality = QUALITY, .optimal = optimal, .libjpeg = true};
    const struct jpeg_segments segments = {.jfif = {0, 1, 1}};
    struct baseline *own;
    file->size = 0;
    double start = cpu_ms();
    if (way == WAYS - 1) {
        codec_encode(CODEC_JPEG, image, &options, NULL, file, NULL);
    } else if (baseline_begin(encoders[way], image, &options, &segments, file, &own, NULL) == ST_OK) {
        baseline_end(own, NULL);
        baseline_finish(own);
    }
    return cpu_ms() - start;
}

/* One line: all ways of encoding with the same tables. */
static void bench_encoders(const char *path, const struct image *image, bool optimal) {
    struct buf file, expected;
    double best[WAYS];
    bool same = true;
    buf_init(&file, FILE_MAX);
    buf_init(&expected, FILE_MAX);
    for (unsigned run = 0; run < runs; run++) {
        for (unsigned i = 0; i < WAYS; i++) {
            unsigned way = WAYS - 1 - i;
            struct buf *to = i == 0 ? &expected : &file;
            if (is_wanted(way)) {
                double ms = encode_once(way, image, optimal, to);
                best[way] = run == 0 || ms < best[way] ? ms : best[way];
                same = same && to->size == expected.size && memcmp(to->data, expected.data, to->size) == 0;
            }
        }
    }
    printf("%-40.40s %5u x %-5u %8zu bytes ", path, image->width, image->height, expected.size);
    for (unsigned way = 0; way < WAYS; way++) {
        if (is_wanted(way)) {
            printf(" %8.3f", best[way]);
            total[optimal][way] += best[way];
        }
    }
    printf("  %s\n", verdict(same));
    total_bytes[optimal] += expected.size;
    buf_finish(&file);
    buf_finish(&expected);
}

static void bench_encoding(const char *path, struct bytes file, const struct picture *picture,
                           const struct codec_limits *limits) {
    struct image image = make_image(&picture->native);
    if (codec_decode(file, picture, limits, &image, NULL) == ST_OK) {
        bench_encoders(path, &image, false);
        bench_encoders("", &image, true);
        pictures++;
    }
    free(image.plane[0].data);
}

/* White where the picture changes. */
static struct image make_mask(const struct image *image) {
    const struct image_shape shape = {
        .model = PIXEL_GRAY, .depth = 8, .width = image->width, .height = image->height};
    struct image mask = make_image(&shape);
    for (uint32_t y = 0; y < mask.height; y++) {
        uint8_t *row = plane_row(&mask.plane[0], y);
        for (uint32_t x = 0; x < mask.width; x++) {
            row[x] = x + SQUARE / 2 - mask.width / 2 < SQUARE && y + SQUARE / 2 - mask.height / 2 < SQUARE
                         ? 255
                         : 0;
        }
    }
    return mask;
}

/* The own encoder is first, as the best of its levels. */
static void bench_patch(const char *path, struct bytes file, const struct picture *picture,
                        const struct codec_limits *limits) {
    struct image image = make_image(&picture->native), mask = make_mask(&image);
    struct buf patched[2];
    double best[2] = {1e9, 1e9};
    struct error err = {0};
    enum status status = codec_decode(file, picture, limits, &image, &err);
    buf_init(&patched[0], FILE_MAX);
    buf_init(&patched[1], FILE_MAX);
    for (unsigned i = 0; i < 2 * runs && status == ST_OK; i++) {
        const struct encode_options options = {.libjpeg = i % 2};
        patched[i % 2].size = 0;
        double start = cpu_ms();
        status = jpeg_patch(file, limits, &image, &mask, &options, NULL, &patched[i % 2], &err);
        double ms = cpu_ms() - start;
        best[i % 2] = ms < best[i % 2] ? ms : best[i % 2];
    }
    if (status != ST_OK) {
        printf("%-40.40s %s\n", path, err.text);
    } else {
        bool same = patched[0].size == patched[1].size &&
                    memcmp(patched[0].data, patched[1].data, patched[0].size) == 0;
        printf("%-40.40s %5u x %-5u %8zu bytes %8.3f %8.3f  %s\n", path, image.width, image.height,
               patched[0].size, best[0], best[1], same ? "same" : "DIFFERENT");
        total[0][0] += best[0];
        total[0][WAYS - 1] += best[1];
        pictures++;
    }
    buf_finish(&patched[0]);
    buf_finish(&patched[1]);
    free(image.plane[0].data);
    free(mask.plane[0].data);
}

static void bench_file(const char *path) {
    const struct codec_limits limits = {.max_pixels = UINT32_MAX,
                                        .max_side = 65535,
                                        .max_scans = 1000,
                                        .max_memory = 4ull << 30,
                                        .libjpeg = true};
    struct buf file = read_file(path);
    struct picture picture;
    struct error err = {0};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (codec_probe(buf_bytes(&file), &limits, &picture, &err) != ST_OK) {
        printf("%-40.40s %s\n", name, err.text);
    } else if (!encodes && (picture.codec != CODEC_JPEG || picture.native.model == PIXEL_RGB ||
                            (pixels && picture.native.model == PIXEL_GRAY))) {
        printf("%-40.40s is no JPEG of planes\n", name);
    } else {
        (patches   ? bench_patch
         : encodes ? bench_encoding
                   : bench_picture)(name, buf_bytes(&file), &picture, &limits);
    }
    codec_picture_finish(&picture);
    buf_finish(&file);
}

/* The own encoder counts as the first way. */
static bool is_patcher(unsigned way) {
    return way == 0 || way == WAYS - 1;
}

static void print_names(void) {
    sequential_levels(levels);
    jpeg_enc_levels(encoders);
    printf("milliseconds:");
    for (unsigned way = 0; way < WAYS; way++) {
        if (patches ? is_patcher(way) : is_wanted(way)) {
            printf(" %s", way == WAYS - 1 ? "libjpeg-turbo"
                          : patches       ? "own encoder"
                          : encodes       ? encoders[way]->name
                                          : levels[way]->name);
        }
    }
    printf("\n");
}

static void print_totals(void) {
    for (unsigned i = 0; i < (encodes ? 2 : 1); i++) {
        printf("all %u%s:", pictures, !encodes ? "" : i ? ", own tables" : ", standard tables");
        for (unsigned way = 0; way < WAYS; way++) {
            if (patches ? is_patcher(way) : is_wanted(way)) {
                printf(" %.3f", total[i][way]);
            }
        }
        printf(encodes ? "; %zu bytes\n" : "\n", total_bytes[i]);
    }
}

int main(int argc, char **argv) {
    int i = 1;
    pixels = i < argc && strcmp(argv[i], "--pixels") == 0;
    encodes = i < argc && strcmp(argv[i], "--encode") == 0;
    patches = i < argc && strcmp(argv[i], "--patch") == 0;
    i += pixels || encodes || patches;
    if (i + 1 < argc && strcmp(argv[i], "--only") == 0) {
        only = argv[i + 1];
        i += 2;
    }
    if (i + 1 < argc && strcmp(argv[i], "--runs") == 0) {
        runs = (unsigned)strtoul(argv[i + 1], NULL, 10);
        i += 2;
    }
    if (i >= argc || runs < 1 || runs > RUNS_MAX) {
        fprintf(stderr, "usage: jpeg [--pixels|--encode|--patch] [--only NAME] [--runs N] FILE...\n");
        return 1;
    }
    print_names();
    for (; i < argc; i++) {
        bench_file(argv[i]);
    }
    print_totals();
    return 0;
}
