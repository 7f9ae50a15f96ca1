/* SPDX-License-Identifier: MIT */
#include "codecs/avif/avif_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "codecs/avif/avif.h"

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define AVIF_FUNCTION(name) {#name, offsetof(struct avif_library, name)},
#include "codecs/avif/avif_library.def"
#undef AVIF_FUNCTION
};

static struct avif_library opened;
static struct error open_error;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_library(void) {
    void *handle = dlopen(LIBAVIF, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        fail(&open_error, ST_UNSUPPORTED, "AVIF needs the library %s, which this system lacks", LIBAVIF);
        return;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *address = dlsym(handle, functions[i].name);
        if (!address) {
            fail(&open_error, ST_UNSUPPORTED, "the library %s lacks the function %s", LIBAVIF,
                 functions[i].name);
            return;
        }
        memcpy((char *)&opened + functions[i].offset, &address, sizeof address);
    }
}

enum status avif_library_open(const struct avif_library **library, struct error *err) {
    pthread_once(&once, open_library);
    *library = &opened;
    return open_error.status == ST_OK ? ST_OK : fail(err, open_error.status, "%s", open_error.text);
}

static enum status status_of(avifResult result, enum status otherwise) {
    switch (result) {
    case AVIF_RESULT_INVALID_FTYP:
    case AVIF_RESULT_UNSUPPORTED_DEPTH:
    case AVIF_RESULT_NO_AV1_ITEMS_FOUND:
    case AVIF_RESULT_NO_CODEC_AVAILABLE:
    case AVIF_RESULT_NOT_IMPLEMENTED:
    case AVIF_RESULT_REFORMAT_FAILED:
        return ST_UNSUPPORTED;
    case AVIF_RESULT_OUT_OF_MEMORY:
        return ST_BUSY;
    default:
        return otherwise;
    }
}

enum status avif_library_fail(const struct avif_library *library, avifResult result, const char *details,
                              enum status otherwise, struct error *err) {
    enum status status = status_of(result, otherwise);
    const char *what = status == ST_UNSUPPORTED ? "AVIF is of an unsupported kind"
                       : status == ST_BUSY      ? "out of memory in the AVIF library"
                       : status == ST_CORRUPT   ? "AVIF data is damaged or cut short"
                                                : "AVIF library failed";
    bool detailed = details && details[0];
    return fail(err, status, "%s: %s%s%s", what, library->avifResultToString(result), detailed ? ": " : "",
                detailed ? details : "");
}

enum status avif_open(struct error *err) {
    const struct avif_library *library;
    return avif_library_open(&library, err);
}
