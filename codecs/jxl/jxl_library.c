/* SPDX-License-Identifier: MIT */
#include "codecs/jxl/jxl_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "codecs/jxl/jxl.h"

enum { OUTPUT_STEP = 64 << 10 };

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

enum status jxl_library_write(const struct jxl_library *jxl, JxlEncoder *encoder, struct buf *output,
                              JxlEncoderStatus *result, struct error *err) {
    enum status status = ST_OK;
    jxl->JxlEncoderCloseInput(encoder);
    *result = JXL_ENC_NEED_MORE_OUTPUT;
    while (*result == JXL_ENC_NEED_MORE_OUTPUT && status == ST_OK) {
        status = buf_reserve(output, OUTPUT_STEP, err);
        if (status == ST_OK) {
            uint8_t *next = output->data + output->size;
            size_t left = output->capacity - output->size;
            *result = jxl->JxlEncoderProcessOutput(encoder, &next, &left);
            output->size = (size_t)(next - output->data);
        }
    }
    return status;
}

enum status jxl_open(struct error *err) {
    return jxl_library_open(err) ? ST_OK : ST_UNSUPPORTED;
}
