/* SPDX-License-Identifier: MIT
 * A CUDA driver that opens, or fails to, as the environment says; it computes nothing.
 *
 *     ODD_VERSION=12040       of CUDA; default 13000
 *     ODD_INIT=100            what cuInit gives
 *     ODD_COUNT=0             how many GPUs there are; default 1
 *     ODD_LACKS=cuMemAlloc    a function that it does not know
 *
 * cuda.h is not included: so the names are those of the documentation, cuMemAlloc and not
 * cuMemAlloc_v2, and only cuGetProcAddress finds them all, as with a driver whose
 * versions of the functions are not the header's. The optional ones are absent. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int number(const char *variable, int otherwise) {
    const char *value = getenv(variable);
    return value ? (int)strtol(value, NULL, 10) : otherwise;
}

static int do_nothing(void) {
    return 0;
}

int cuDriverGetVersion(int *version);
int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);
int cuGetErrorName(int error, const char **text);
int cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags, int *found);

int cuDriverGetVersion(int *version) {
    *version = number("ODD_VERSION", 13000);
    return 0;
}

int cuInit(unsigned flags) {
    return flags == 0 ? number("ODD_INIT", 0) : 1;
}

int cuDeviceGetCount(int *count) {
    *count = number("ODD_COUNT", 1);
    return 0;
}

int cuGetErrorName(int error, const char **text) {
    *text = error == 100 ? "CUDA_ERROR_NO_DEVICE" : NULL;
    return *text ? 0 : 1;
}

struct function {
    const char *name;
    void (*address)(void); /* called with its own type */
};

/* The functions above; all others are one that does nothing. */
static const struct function known[] = {
    {"cuDriverGetVersion", (void (*)(void))cuDriverGetVersion},
    {"cuInit", (void (*)(void))cuInit},
    {"cuDeviceGetCount", (void (*)(void))cuDeviceGetCount},
    {"cuGetErrorName", (void (*)(void))cuGetErrorName},
#define CUDA_REQUIRED(name) {#name, (void (*)(void))do_nothing},
#define CUDA_OPTIONAL(name)
#include "gpu/cuda/driver.def"
#undef CUDA_REQUIRED
#undef CUDA_OPTIONAL
};

/* As the real one: 1 for a version newer than the driver, 500 for a name that it does not know. */
int cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags, int *found) {
    const char *lacking = getenv("ODD_LACKS");
    if (version > number("ODD_VERSION", 13000) || flags != 0) {
        return 1;
    }
    *found = 1;
    *address = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known && *found != 0; i++) {
        if (strcmp(known[i].name, name) == 0 && (!lacking || strcmp(lacking, name) != 0)) {
            memcpy(address, &known[i].address, sizeof *address);
            *found = 0;
        }
    }
    return *found == 0 ? 0 : 500;
}
