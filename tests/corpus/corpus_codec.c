/* SPDX-License-Identifier: MIT
 * Runs every file of a corpus through the codecs and compares the outcome with the
 * corpus's MANIFEST.tsv: tab-separated, path first, acceptable HTTP statuses ninth.
 * Accepted pictures are encoded to both formats, from planes and from pixels, and the output must decode
 * again. Also reports slow files.
 *
 *     corpus_codec DIRECTORY */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "codecs/codec.h"

enum { COLUMN_PATH = 0, COLUMN_ACCEPT = 8, COLUMNS = 9, SLOW_MS = 300, OUTPUT_MAX = 1 << 30 };

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct codec_limits default_limits(void) {
    return (struct codec_limits){
        .max_pixels = 64000000,
        .max_side = 32768,
        .max_scans = 100,
        .max_memory = 512u << 20,
        .deadline_ns = now_ns() + 20000000000, /* the machine may be busy with other tests */
    };
}

static int http_status(enum status status) {
    switch (status) {
    case ST_OK:
        return 200;
    case ST_CORRUPT:
        return 400;
    case ST_TOO_LARGE:
        return 413;
    case ST_UNSUPPORTED:
        return 415;
    case ST_LIMIT:
        return 422;
    default:
        return 500;
    }
}

static uint8_t *read_file(const char *directory, const char *name, size_t *size) {
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    /* The exact size, so that a sanitizer sees each byte read beyond the end. */
    uint8_t *data = malloc(*size ? *size : 1);
    *size = data ? fread(data, 1, *size, file) : 0;
    fclose(file);
    return data;
}

static enum status decode_written(const struct buf *output, struct error *err) {
    struct codec_limits limits = default_limits();
    struct picture picture;
    enum status status = codec_probe(buf_bytes(output), &limits, &picture, err);
    struct image image;
    size_t size = status == ST_OK ? image_layout(&image, &picture.native) : 0;
    uint8_t *memory = size ? aligned_alloc(IMAGE_ALIGNMENT, size) : NULL;
    if (memory) {
        image_place(&image, memory);
        status = codec_decode(buf_bytes(output), &picture, &limits, &image, err);
    }
    codec_picture_finish(&picture);
    free(memory);
    return status;
}

/* Decodes to one of the two shapes and encodes the result. */
static enum status recode(struct bytes input, const struct picture *picture, const struct image_shape *shape,
                          enum codec_id id, struct error *err) {
    struct codec_limits limits = default_limits();
    struct image image;
    size_t size = image_layout(&image, shape);
    uint8_t *memory = size ? aligned_alloc(IMAGE_ALIGNMENT, size) : NULL;
    if (!memory) {
        return fail(err, ST_BUSY, "no memory for the pixels");
    }
    memset(memory, 0xA5, size);
    image_place(&image, memory);
    enum status status = codec_decode(input, picture, &limits, &image, err);
    struct buf output;
    buf_init(&output, OUTPUT_MAX);
    if (status == ST_OK) {
        struct encode_options options = {.quality = 85, .effort = 1, .keep_metadata = true, .upright = true};
        status = codec_encode(id, &image, &options, &picture->metadata, &output, err);
        if (status == ST_OK && decode_written(&output, err) != ST_OK) {
            status = fail(err, ST_INTERNAL, "what was written cannot be read");
        }
    }
    buf_finish(&output);
    free(memory);
    return status;
}

static enum status run_file(struct bytes input, int64_t *spent, struct error *err) {
    struct codec_limits limits = default_limits();
    struct picture picture;
    int64_t start = now_ns();
    enum status status = codec_probe(input, &limits, &picture, err);
    *spent = now_ns() - start;
    if (status != ST_OK) {
        return status;
    }
    start = now_ns();
    bool planes = picture.native.model == PIXEL_YCBCR;
    status = recode(input, &picture, &picture.native, planes ? picture.codec : CODEC_JPEG, err);
    *spent += now_ns() - start;
    if (status == ST_OK) {
        status = recode(input, &picture, &picture.pixels, CODEC_PNG, err);
    }
    codec_picture_finish(&picture);
    return status;
}

static bool accepts(const char *list, int status) {
    char text[8];
    snprintf(text, sizeof(text), "%d", status);
    return strstr(list, text) != NULL;
}

/* The manifest was made when only JPEG and PNG were read. */
static bool is_newer(struct bytes input) {
    const struct codec *codec = codec_sniff(input);
    return codec && codec != codec_get(CODEC_JPEG) && codec != codec_get(CODEC_PNG) && codec->decode;
}

/* Returns whether the file behaves as the manifest's line says. */
static bool check_line(const char *directory, char *line) {
    char *column[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        column[i] = strsep(&line, "\t");
        if (!column[i]) {
            printf("manifest line is too short\n");
            return false;
        }
    }
    size_t size = 0;
    uint8_t *data = read_file(directory, column[COLUMN_PATH], &size);
    if (!data) {
        printf("%s: cannot be read\n", column[COLUMN_PATH]);
        return false;
    }
    struct error err = {0};
    int64_t spent = 0;
    int got = http_status(run_file((struct bytes){data, size}, &spent, &err));
    bool passed = accepts(column[COLUMN_ACCEPT], got) || (got == 200 && is_newer((struct bytes){data, size}));
    free(data);
    if (!passed) {
        printf("%s: %d, accepted are %s: %s\n", column[COLUMN_PATH], got, column[COLUMN_ACCEPT], err.text);
    } else if (getenv("CORPUS_VERBOSE")) {
        printf("%s: %d %s\n", column[COLUMN_PATH], got, err.text);
    }
    if (spent > SLOW_MS * (int64_t)1000000) {
        printf("%s: slow, %" PRId64 " ms, status %d %s\n", column[COLUMN_PATH], spent / 1000000, got,
               err.text);
    }
    return passed;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: corpus_codec DIRECTORY\n");
        return 2;
    }
    char path[4096], line[8192];
    snprintf(path, sizeof(path), "%s/MANIFEST.tsv", argv[1]);
    FILE *manifest = fopen(path, "r");
    if (!manifest || !fgets(line, sizeof(line), manifest)) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 2;
    }
    unsigned passed = 0, failed = 0;
    while (fgets(line, sizeof(line), manifest)) {
        bool good = check_line(argv[1], line);
        passed += good;
        failed += !good;
    }
    fclose(manifest);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%u passed, %u failed; at most %ld MiB of memory\n", passed, failed, usage.ru_maxrss / 1024);
    return failed ? 1 : 0;
}
