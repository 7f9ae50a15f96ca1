/* SPDX-License-Identifier: MIT */
#include "detect/codes/reader/codes_library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
#define CODES_FUNCTION(result, name, arguments) {#name, offsetof(struct codes_library, name)},
#include "detect/codes/reader/codes_library.def"
#undef CODES_FUNCTION
};

enum status codes_library_open(const char *path, struct codes_library *library, struct error *err) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *missing = handle ? NULL : dlerror();
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols && !missing; i++) {
        void *address = dlsym(handle, symbols[i].name);
        memcpy((char *)library + symbols[i].offset, &address, sizeof address);
        missing = address ? NULL : "the library lacks a function";
    }
    return missing ? fail(err, ST_UNSUPPORTED, "codes cannot be read on this machine: %.200s", missing)
                   : ST_OK;
}
