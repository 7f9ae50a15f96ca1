/* SPDX-License-Identifier: MIT
 * Time of decoding and encoding pictures, one thread: the median of several runs in
 * milliseconds of CPU, and the bytes. Each picture is decoded as it is, and encoded as JPEG at quality
 * 90 and as PNG at each effort. A report, not a test.
 *
 *     codecs [--runs N] [--effort N] FILE... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codecs/codec.h"

enum { RUNS_MAX = 1000, EFFORTS = 10, FILE_MAX = 256 << 20 };

static unsigned runs = 7;
static int only_effort = -1;

static double cpu_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *ms) {
    qsort(ms, runs, sizeof ms[0], compare);
    return ms[runs / 2];
}

static _Noreturn void give_up(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static struct buf read_file(const char *path) {
    struct buf file;
    struct error err = {0};
    buf_init(&file, FILE_MAX);
    FILE *stream = fopen(path, "rb");
    uint8_t part[65536];
    for (size_t size = 1; stream && size > 0;) {
        size = fread(part, 1, sizeof part, stream);
        if (buf_append(&file, part, size, &err) != ST_OK) {
            give_up(path, err.text);
        }
    }
    if (!stream) {
        give_up(path, "cannot be read");
    }
    fclose(stream);
    return file;
}

/* The picture as interleaved pixels or as the codec stores it; free plane[0].data. */
static struct image decode(const char *path, struct bytes file, bool native) {
    const struct codec_limits limits = {
        .max_pixels = UINT32_MAX, .max_side = 65535, .max_scans = 1000, .max_memory = 4ull << 30};
    struct picture picture;
    struct error err = {0};
    struct image image = {0};
    double ms[RUNS_MAX];
    if (codec_probe(file, &limits, &picture, &err) != ST_OK) {
        give_up(path, err.text);
    }
    const struct image_shape *shape = native ? &picture.native : &picture.pixels;
    size_t size = image_layout(&image, shape), room = codec_decode_room(picture.codec, shape);
    uint8_t *memory = size ? aligned_alloc(IMAGE_ALIGNMENT, size + room) : NULL;
    if (!memory) {
        give_up(path, "no memory");
    }
    image_place(&image, memory);
    image.room = room;
    for (unsigned i = 0; i < runs; i++) {
        double start = cpu_ms();
        if (codec_decode(file, &picture, &limits, &image, &err) != ST_OK) {
            give_up(path, err.text);
        }
        ms[i] = cpu_ms() - start;
    }
    printf("%s %u x %u, %s%s\n  decode      %8.2f ms %10zu bytes\n", path, image.width, image.height,
           codec_get(picture.codec)->name, native ? "" : " as pixels", median(ms), file.size);
    return image;
}

static void encode(const struct image *image, enum codec_id id, unsigned effort) {
    const struct encode_options options = {.quality = 90, .effort = (uint8_t)effort, .reduce = true};
    struct error err = {0};
    struct buf output;
    size_t size = 0;
    double ms[RUNS_MAX];
    for (unsigned i = 0; i < runs; i++) {
        double start = cpu_ms();
        buf_init(&output, FILE_MAX);
        if (codec_encode(id, image, &options, NULL, &output, &err) != ST_OK) {
            give_up("encode", err.text);
        }
        ms[i] = cpu_ms() - start;
        size = output.size;
        buf_finish(&output);
    }
    if (id == CODEC_PNG) {
        printf("  png  effort %u", effort);
    } else {
        printf("  jpeg        ");
    }
    printf("%8.2f ms %10zu bytes\n", median(ms), size);
}

static void bench_file(const char *path) {
    struct buf file = read_file(path);
    struct image image = decode(path, buf_bytes(&file), true);
    encode(&image, CODEC_JPEG, 0);
    if (image.model == PIXEL_YCBCR) {
        free(image.plane[0].data);
        image = decode(path, buf_bytes(&file), false);
    }
    for (unsigned effort = 0; effort < EFFORTS; effort++) {
        if (only_effort < 0 || (unsigned)only_effort == effort) {
            encode(&image, CODEC_PNG, effort);
        }
    }
    free(image.plane[0].data);
    buf_finish(&file);
}

int main(int argc, char **argv) {
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        int value = (int)strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--runs") == 0 && value > 0 && value <= RUNS_MAX) {
            runs = (unsigned)value;
        } else if (strcmp(argv[i], "--effort") == 0 && value >= 0 && value < EFFORTS) {
            only_effort = value;
        } else {
            give_up(argv[i], "not an option, or its value is out of range");
        }
    }
    if (i == argc) {
        give_up("usage", "codecs [--runs N] [--effort N] FILE...");
    }
    for (; i < argc; i++) {
        bench_file(argv[i]);
    }
    return 0;
}
