/* SPDX-License-Identifier: MIT */
#include "codecs/jxl/jxl_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "codecs/jxl/jxl.h"

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define JXL_FUNCTION(name) {#name, offsetof(struct jxl_library, name)},
#include "codecs/jxl/jxl_library.def"
#undef JXL_FUNCTION
};

static struct jxl_library opened; /* written once, by the first call */
static const char *missing;       /* the function that the library lacks, or the library itself */

static void open_once(void) {
    void *handle = dlopen(LIBJXL, RTLD_NOW | RTLD_LOCAL);
    missing = handle ? NULL : LIBJXL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && !missing; i++) {
        void *address = dlsym(handle, functions[i].name);
        memcpy((char *)&opened + functions[i].offset, &address, sizeof address);
        missing = address ? NULL : functions[i].name;
    }
}

const struct jxl_library *jxl_library_open(struct error *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    if (missing) {
        fail(err, ST_UNSUPPORTED, "JPEG XL is not supported on this machine: it lacks %s", missing);
        return NULL;
    }
    return &opened;
}

enum status jxl_open(struct error *err) {
    return jxl_library_open(err) ? ST_OK : ST_UNSUPPORTED;
}
