/* SPDX-License-Identifier: MIT */
#include "codecs/tiff/tiff_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "codecs/tiff/tiff_codec.h"

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define TIFF_FUNCTION(name) {#name, offsetof(struct tiff_library, name)},
#include "codecs/tiff/tiff_library.def"
#undef TIFF_FUNCTION
};

static struct tiff_library opened;
static enum status outcome;
static struct error reason;

static void set(size_t offset, void *address) {
    memcpy((char *)&opened + offset, &address, sizeof(address));
}

static enum status open_library(struct error *err) {
    void *handle = dlopen(LIBTIFF, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        return fail(err, ST_UNSUPPORTED, "TIFF cannot be read: the library " LIBTIFF " is not installed");
    }
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
        void *address = dlsym(handle, functions[i].name);
        if (!address) {
            return fail(err, ST_UNSUPPORTED, "TIFF cannot be read: " LIBTIFF " lacks the function %s",
                        functions[i].name);
        }
        set(functions[i].offset, address);
    }
    set(offsetof(struct tiff_library, limit_memory), dlsym(handle, "TIFFOpenOptionsSetMaxCumulatedMemAlloc"));
    return ST_OK;
}

static void open_once(void) {
    outcome = open_library(&reason);
}

enum status tiff_library_open(const struct tiff_library **library, struct error *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    *library = &opened;
    return outcome == ST_OK ? ST_OK : fail(err, outcome, "%s", reason.text);
}

enum status tiff_codec_open(struct error *err) {
    const struct tiff_library *library;
    return tiff_library_open(&library, err);
}
