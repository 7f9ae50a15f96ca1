/* SPDX-License-Identifier: MIT */
#include "gpu/nvjpeg.h"

#include <dlfcn.h>
#include <string.h>

struct symbol {
    const char *name;
    size_t offset; /* of the member of struct nvjpeg */
};

#define NVJPEG(name, ...) {#name, offsetof(struct nvjpeg, name)},
static const struct symbol symbols[] = {
#include "gpu/nvjpeg.def"
};
#undef NVJPEG

static void *open_newest(const struct cuda *cuda) {
    static const struct {
        int version;
        const char *name;
    } known[] = {{13000, "libnvjpeg.so.13"}, {12000, "libnvjpeg.so.12"}};
    void *library = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known && !library; i++) {
        library = known[i].version <= cuda->version ? dlopen(known[i].name, RTLD_NOW | RTLD_LOCAL) : NULL;
    }
    return library;
}

enum status nvjpeg_open(struct nvjpeg *nvjpeg, const struct cuda *cuda, const char *library,
                        struct error *err) {
    *nvjpeg =
        (struct nvjpeg){.library = library ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : open_newest(cuda)};
    if (!nvjpeg->library && library) {
        return fail(err, ST_UNSUPPORTED, "no nvJPEG: %s", dlerror());
    }
    if (!nvjpeg->library) {
        return fail(err, ST_UNSUPPORTED, "there is no libnvjpeg.so that fits the driver");
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(nvjpeg->library, symbols[i].name);
        if (!address) {
            return fail(err, ST_UNSUPPORTED, "this nvJPEG lacks the function %s", symbols[i].name);
        }
        memcpy((char *)nvjpeg + symbols[i].offset, &address, sizeof address);
    }
    return ST_OK;
}

enum status nvjpeg_check(int result, const char *call, struct error *err) {
    switch (result) {
    case NVJPEG_SUCCESS:
        return ST_OK;
    case NVJPEG_BAD_JPEG:
    case NVJPEG_NOT_SUPPORTED:
    case NVJPEG_ARCH_MISMATCH:
    case NVJPEG_IMPLEMENTATION_NOT_SUPPORTED:
    case NVJPEG_INCOMPLETE_BITSTREAM:
        return fail(err, ST_UNSUPPORTED, "%s: status %d", call, result);
    case NVJPEG_ALLOCATOR_FAILURE:
        return fail(err, ST_BUSY, "%s: out of memory", call);
    default:
        return fail(err, ST_DEVICE, "%s: status %d", call, result);
    }
}
