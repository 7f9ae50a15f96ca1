/* SPDX-License-Identifier: MIT */
#include "codecs/heic/heic_library.h"

#include "codecs/heic/heic.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define HEIF_FUNCTION(name) {#name, offsetof(struct heic_library, name)},
#include "codecs/heic/heic_library.def"
#undef HEIF_FUNCTION
};

/* glibc fills new memory with the complement of this, and freed memory with this. */
enum { PERTURB_WITH_ZEROS = 0xFF };

static struct heic_library opened;
static enum status outcome;
static struct error reason;

static enum status find_functions(void *handle, struct error *err) {
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
        void *address = dlsym(handle, functions[i].name);
        if (!address) {
            return fail(err, ST_UNSUPPORTED, "HEIC cannot be read: " LIBHEIF " lacks the function %s",
                        functions[i].name);
        }
        memcpy((char *)&opened + functions[i].offset, &address, sizeof(address));
    }
    return ST_OK;
}

/* Decoders may be plug-ins, which heif_init loads. libde265 leaves parts of damaged pictures as the memory
 * was, so new memory must not hold another client's picture. Filling it takes no measurable time. Blocks that
 * malloc keeps for the thread are not filled: codecs/small_blocks.h. */
static enum status open_library(struct error *err) {
    void *handle = dlopen(LIBHEIF, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        return fail(err, ST_UNSUPPORTED, "HEIC cannot be read: the library " LIBHEIF " is not installed");
    }
    enum status status = find_functions(handle, err);
    if (status != ST_OK) {
        return status;
    }
#ifdef M_PERTURB
    mallopt(M_PERTURB, PERTURB_WITH_ZEROS);
#endif
    opened.heif_init(NULL);
    if (!opened.heif_have_decoder_for_format(heif_compression_HEVC)) {
        return fail(err, ST_UNSUPPORTED, "HEIC cannot be read: " LIBHEIF " has no decoder of HEVC");
    }
    return ST_OK;
}

static void open_once(void) {
    outcome = open_library(&reason);
}

enum status heic_library_open(const struct heic_library **library, struct error *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    *library = &opened;
    return outcome == ST_OK ? ST_OK : fail(err, outcome, "%s", reason.text);
}

enum status heic_open(struct error *err) {
    const struct heic_library *library;
    return heic_library_open(&library, err);
}
