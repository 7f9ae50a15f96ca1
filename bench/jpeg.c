/* SPDX-License-Identifier: MIT
 * Time of decoding JPEGs to planes by the own decoder, at each instruction set, beside libjpeg-turbo: the
 * fastest of several runs in milliseconds, all of a picture in turns, and whether the samples are the same. A
 * report, not a test.
 *
 *     jpeg [--runs N] FILE... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codecs/codec.h"
#include "codecs/jpeg/sequential/seq_scan.h"
#include "codecs/jpeg/sequential/sequential.h"

enum { RUNS_MAX = 1000, FILE_MAX = 256 << 20, WAYS = SEQUENTIAL_LEVELS_MAX + 1 };

static unsigned runs = 9;
static const struct seq_level *levels[SEQUENTIAL_LEVELS_MAX + 1];
static double total[WAYS]; /* the last one is libjpeg-turbo */
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
            same = memcmp(plane_row(&a->plane[p], y), plane_row(&b->plane[p], y), a->plane[p].width) == 0;
        }
    }
    return same;
}

/* Milliseconds, or a negative number when the decoder leaves the picture to others. */
static double decode_once(unsigned way, struct bytes file, const struct picture *picture,
                          const struct codec_limits *limits, const struct image *image) {
    double start = cpu_ms();
    bool left = false;
    uint32_t told;
    enum status status = way == WAYS - 1
                             ? codec_decode(file, picture, limits, image, NULL)
                             : sequential_decode_at(levels[way], file, limits, image, &left, &told, NULL);
    return status == ST_OK && !left ? cpu_ms() - start : -1;
}

static void bench_picture(const char *path, struct bytes file, const struct picture *picture,
                          const struct codec_limits *limits) {
    struct image own = make_image(&picture->native), turbo = make_image(&picture->native);
    double best[WAYS];
    bool known = true, same = true;
    for (unsigned way = 0; way < WAYS; way++) {
        best[way] = 1e9;
    }
    for (unsigned run = 0; run < runs && known; run++) {
        for (unsigned i = 0; i < WAYS; i++) {
            unsigned way = WAYS - 1 - i;
            if (way < WAYS - 1 && !levels[way]) {
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
        if (way == WAYS - 1 || levels[way]) {
            printf(" %8.3f", best[way]);
            total[way] += best[way];
        }
    }
    printf("  %s\n", !known ? "left to libjpeg-turbo" : same ? "same" : "DIFFERENT");
    pictures += known;
    free(own.plane[0].data);
    free(turbo.plane[0].data);
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
    } else if (picture.codec != CODEC_JPEG || picture.native.model == PIXEL_RGB) {
        printf("%-40.40s is no JPEG of planes\n", name);
    } else {
        bench_picture(name, buf_bytes(&file), &picture, &limits);
    }
    codec_picture_finish(&picture);
    buf_finish(&file);
}

int main(int argc, char **argv) {
    int i = 1;
    if (argc > 2 && strcmp(argv[1], "--runs") == 0) {
        runs = (unsigned)strtoul(argv[2], NULL, 10);
        i = 3;
    }
    if (i >= argc || runs < 1 || runs > RUNS_MAX) {
        fprintf(stderr, "usage: jpeg [--runs N] FILE...\n");
        return 1;
    }
    sequential_levels(levels);
    printf("milliseconds:");
    for (unsigned way = 0; way < WAYS - 1 && levels[way]; way++) {
        printf(" %s,", levels[way]->name);
    }
    printf(" libjpeg-turbo\n");
    for (; i < argc; i++) {
        bench_file(argv[i]);
    }
    printf("all %u:", pictures);
    for (unsigned way = 0; way < WAYS; way++) {
        if (way == WAYS - 1 || levels[way]) {
            printf(" %.3f", total[way]);
        }
    }
    printf("\n");
    return 0;
}
