/* SPDX-License-Identifier: MIT */
#include "codecs/webp/webp_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "codecs/webp/webp.h"

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
#define WEBP_FUNCTION(name) {#name, offsetof(struct webp_library, name)},
#include "codecs/webp/webp_library.def"
#undef WEBP_FUNCTION
};

static struct webp_library library; /* written once, by the first call */
static const char *missing;         /* the function that the library lacks, or the library itself */

static void open_once(void) {
    void *handle = dlopen(LIBWEBP, RTLD_NOW | RTLD_LOCAL);
    missing = handle ? NULL : LIBWEBP;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols && !missing; i++) {
        void *address = dlsym(handle, symbols[i].name);
        memcpy((char *)&library + symbols[i].offset, &address, sizeof address);
        missing = address ? NULL : symbols[i].name;
    }
}

const struct webp_library *webp_library_open(struct error *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    if (missing) {
        fail(err, ST_UNSUPPORTED, "WebP is not supported on this machine: it lacks %s", missing);
        return NULL;
    }
    return &library;
}

enum status webp_open(struct error *err) {
    return webp_library_open(err) ? ST_OK : ST_UNSUPPORTED;
}
