/* SPDX-License-Identifier: MIT
 * Runs at build time, without a GPU, and makes the files that gpu/cuda/embedded.c embeds.
 *
 *     compile flatten OUTPUT FILE.cu...                    one text with all includes
 *     compile cubin|ptx OUTPUT NUMBER SOURCE.cu LIBRARY    for compute capability NUMBER / 10
 *
 * One text makes all kernels one module and spares NVRTC files at run time. Where LIBRARY, an NVRTC, does not
 * know the architecture, it prints a notice and the output is empty. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "gpu/cuda/nvrtc.h"

enum { INCLUDE_DEPTH = 8, TEXT_MAX = 4 << 20, PATH_SIZE = 256 };

/* Appends a zero at the end. */
static enum status read_text(const char *path, struct buf *text, struct error *err) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        return fail(err, ST_ARGUMENT, "%s: %s", path, strerror(errno));
    }
    char chunk[4096];
    enum status status = ST_OK;
    for (size_t got; status == ST_OK && (got = fread(chunk, 1, sizeof chunk, file)) > 0;) {
        status = buf_append(text, chunk, got, err);
    }
    if (status == ST_OK && ferror(file)) {
        status = fail(err, ST_ARGUMENT, "%s: %s", path, strerror(errno));
    }
    fclose(file);
    return status == ST_OK ? buf_append(text, "", 1, err) : status;
}

/* make removes the output of a failed command (.DELETE_ON_ERROR). */
static enum status write_file(const char *path, struct bytes text, struct error *err) {
    FILE *file = fopen(path, "wb");
    bool written = file && fwrite(text.data, 1, text.size, file) == text.size;
    if (file && fclose(file) != 0) {
        written = false;
    }
    return written ? ST_OK : fail(err, ST_ARGUMENT, "%s: %s", path, strerror(errno));
}

struct flat {
    struct buf text;
    struct buf once; /* paths, a line each, of included files with #pragma once */
};

static const char pragma_once[] = "\n#pragma once\n";

static enum status flatten_file(struct flat *flat, const char *path, int depth, struct error *err);

/* Replaces #include "PATH" by the file. The compiler handles guards, so a table may be included twice. */
static enum status flatten_line(struct flat *flat, const char *path, unsigned number, const char *line,
                                size_t length, int depth, struct error *err) {
    char included[PATH_SIZE];
    int end = 0;
    /* White space in a format also matches line ends, so a match may lie in a later line. */
    if (sscanf(line, " # include \"%200[^\"\n]%n", included, &end) == 1 && (size_t)end < length &&
        line[end] == '"') {
        enum status status = flatten_file(flat, included, depth + 1, err);
        return status == ST_OK ? buf_printf(&flat->text, err, "#line %u \"%s\"\n", number + 1, path) : status;
    }
    if (strncmp(line, pragma_once + 1, strlen(pragma_once + 1)) == 0) {
        length = 0; /* handled here; the compiler would warn about it in the main file */
    }
    enum status status = buf_append(&flat->text, line, length, err);
    return status == ST_OK ? buf_append(&flat->text, "\n", 1, err) : status;
}

static enum status flatten_text(struct flat *flat, const char *path, const char *text, int depth,
                                struct error *err) {
    enum status status = buf_printf(&flat->text, err, "#line 1 \"%s\"\n", path);
    for (unsigned number = 1; status == ST_OK && *text; number++) {
        size_t length = strcspn(text, "\n");
        status = flatten_line(flat, path, number, text, length, depth, err);
        text += length + (text[length] == '\n');
    }
    return status;
}

static bool is_done(const struct flat *flat, const char *path) {
    char line[PATH_SIZE + 2];
    int length = snprintf(line, sizeof line, "\n%s\n", path);
    return flat->once.size > 0 && memmem(flat->once.data, flat->once.size, line, (size_t)length);
}

static enum status flatten_file(struct flat *flat, const char *path, int depth, struct error *err) {
    struct buf file;
    if (is_done(flat, path)) {
        return ST_OK;
    }
    if (depth > INCLUDE_DEPTH) {
        return fail(err, ST_ARGUMENT, "%s: included %d deep", path, depth);
    }
    buf_init(&file, TEXT_MAX);
    enum status status = read_text(path, &file, err);
    if (status == ST_OK && strstr((const char *)file.data, pragma_once)) {
        status = buf_printf(&flat->once, err, "\n%s\n", path);
    }
    if (status == ST_OK) {
        status = flatten_text(flat, path, (const char *)file.data, depth, err);
    }
    buf_finish(&file);
    return status;
}

static enum status flatten(const char *output, char **paths, struct error *err) {
    struct flat flat;
    buf_init(&flat.text, TEXT_MAX);
    buf_init(&flat.once, TEXT_MAX);
    enum status status = ST_OK;
    for (; status == ST_OK && *paths; paths++) {
        status = flatten_file(&flat, *paths, 0, err);
    }
    if (status == ST_OK) {
        status = write_file(output, buf_bytes(&flat.text), err);
    }
    buf_finish(&flat.text);
    buf_finish(&flat.once);
    return status;
}

static enum status compile(const char *output, struct nvrtc_target target, const char *source,
                           const char *library, struct error *err) {
    struct nvrtc nvrtc;
    struct nvrtc_target able = {0};
    struct buf text, image;
    buf_init(&text, TEXT_MAX);
    buf_init(&image, NVRTC_IMAGE_MAX);
    enum status status = read_text(source, &text, err);
    if (status == ST_OK) {
        status = nvrtc_open(&nvrtc, library, 0, err);
    }
    if (status == ST_OK && (nvrtc_choose(&nvrtc, target.architecture, &able, err) != ST_OK || able.ptx)) {
        printf("  NOTE  no kernels for sm_%d: NVRTC %d.%d does not know it\n", target.architecture,
               nvrtc.major, nvrtc.minor);
    } else if (status == ST_OK) {
        status = nvrtc_compile(&nvrtc, (const char *)text.data, target, &image, err);
    }
    if (status == ST_OK) {
        status = write_file(output, buf_bytes(&image), err);
    }
    buf_finish(&text);
    buf_finish(&image);
    return status;
}

int main(int argc, char **argv) {
    struct error err = {0};
    int architecture = 0;
    enum status status;
    if (argc >= 4 && strcmp(argv[1], "flatten") == 0) {
        status = flatten(argv[2], argv + 3, &err);
    } else if (argc == 6 && sscanf(argv[3], "%d", &architecture) == 1) {
        struct nvrtc_target target = {architecture, strcmp(argv[1], "ptx") == 0};
        status = compile(argv[2], target, argv[4], argv[5], &err);
    } else {
        status = fail(&err, ST_ARGUMENT, "usage: see the head of gpu/cuda/compile.c");
    }
    if (status != ST_OK) {
        fprintf(stderr, "compile: %s\n", err.text);
    }
    return status == ST_OK ? EX_OK : EX_SOFTWARE;
}
