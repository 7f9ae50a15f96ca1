/* SPDX-License-Identifier: MIT
 * cuGetProcAddress returns the function that had a name and arguments in a given version of CUDA. A driver
 * older than the header is asked for its own version: a 12.4 driver lacks cuEventElapsedTime_v2 of a 13.0
 * header, but has its older form of the same name. */
#include "gpu/cuda/driver.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/tuned.h"

_Static_assert(CUDA_VERSION >= 12000, "cuGetProcAddress has five parameters since CUDA 12.0");

/* CUDA 12.0, driver 525, is the first that takes machine code of NVRTC 12.9, and that for all of sm_75 to
 * sm_90. */
enum { OLDEST_VERSION = 12000 };

struct driver_symbol {
    const char *name;
    const char *exact; /* as cuda.h renames it: cuMemAlloc_v2 */
    size_t offset;
    bool required;
};

#define SPELL(name) #name
#define CUDA_REQUIRED(name) {#name, SPELL(name), offsetof(struct cuda, name), true},
#define CUDA_OPTIONAL(name) {#name, SPELL(name), offsetof(struct cuda, name), false},
static const struct driver_symbol symbols[] = {
#include "gpu/cuda/driver.def"
};
#undef CUDA_REQUIRED
#undef CUDA_OPTIONAL

typedef __typeof__(cuGetProcAddress) get_address;

static get_address *find_get_address(void *library) {
    get_address *get;
    void *symbol = dlsym(library, "cuGetProcAddress_v2");
    memcpy(&get, &symbol, sizeof get); /* C has no cast from void * to a function */
    return get;
}

static void *find(const struct cuda *cuda, get_address *get, const struct driver_symbol *symbol) {
    void *address = NULL;
    CUdriverProcAddressQueryResult found;
    int version = cuda->version < CUDA_VERSION ? cuda->version : CUDA_VERSION;
    if (get && get(symbol->name, &address, version, CU_GET_PROC_ADDRESS_DEFAULT, &found) == CUDA_SUCCESS &&
        address) {
        return address;
    }
    return dlsym(cuda->library, symbol->exact);
}

static enum status find_functions(struct cuda *cuda, const char *library, struct error *err) {
    get_address *get = find_get_address(cuda->library);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = find(cuda, get, &symbols[i]);
        if (!address && symbols[i].required) {
            return fail(err, ST_DEVICE, "the driver %s lacks the function %s", library, symbols[i].name);
        }
        memcpy((char *)cuda + symbols[i].offset, &address, sizeof address);
    }
    return ST_OK;
}

/* Called first, since every driver has this function and a stub reveals itself in it. */
static enum status read_version(struct cuda *cuda, const char *library, struct error *err) {
    __typeof__(cuDriverGetVersion) *get_version;
    void *address = dlsym(cuda->library, "cuDriverGetVersion");
    if (!address) {
        return fail(err, ST_DEVICE, "%s is not a CUDA driver: it lacks the function cuDriverGetVersion",
                    library);
    }
    memcpy(&get_version, &address, sizeof get_version);
    CUresult result = get_version(&cuda->version);
    if (result == CUDA_ERROR_STUB_LIBRARY) {
        return fail(err, ST_DEVICE,
                    "%s is the CUDA toolkit's stub for linking, not a driver: CUDA_ERROR_STUB_LIBRARY (%d)",
                    library, (int)result);
    }
    if (result != CUDA_SUCCESS) {
        return fail(err, ST_DEVICE, "cuDriverGetVersion of %s failed with error %d", library, (int)result);
    }
    if (cuda->version < OLDEST_VERSION) {
        return fail(err, ST_DEVICE,
                    "the driver %s is of CUDA %d.%d; CUDA 12.0, driver 525, is the oldest that will do",
                    library, cuda->version / 1000, cuda->version % 1000 / 10);
    }
    return ST_OK;
}

/* Streams share 8 connections to the GPU by default, so a ninth picture waits for another's kernels. The
 * environment has precedence. */
static enum status start(const struct cuda *cuda, struct error *err) {
    int count = 0;
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", TUNED_GPU_CONNECTIONS, 0);
    enum status status = CUDA_TRY(cuda, err, cuInit, 0);
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuDeviceGetCount, &count);
    }
    if (status == ST_OK && count == 0) {
        return fail(err, ST_DEVICE, "the CUDA driver finds no GPU");
    }
    return status;
}

enum status cuda_open(struct cuda *cuda, const char *library, struct error *err) {
    /* Without a path, the system's loader picks the file. */
    const char *name = library ? library : "libcuda.so.1";
    *cuda = (struct cuda){.library = dlopen(name, RTLD_NOW | RTLD_LOCAL)};
    if (!cuda->library) {
        return fail(err, ST_DEVICE, "no CUDA driver: %s", dlerror());
    }
    enum status status = read_version(cuda, name, err);
    if (status == ST_OK) {
        status = find_functions(cuda, name, err);
    }
    return status == ST_OK ? start(cuda, err) : status;
}

enum status cuda_check(const struct cuda *cuda, CUresult result, const char *call, struct error *err) {
    const char *name = NULL, *text = NULL;
    if (result == CUDA_SUCCESS) {
        return ST_OK;
    }
    if (cuda->cuGetErrorName(result, &name) != CUDA_SUCCESS || !name) {
        name = "an error unknown to the driver";
    }
    if (cuda->cuGetErrorString(result, &text) != CUDA_SUCCESS || !text) {
        text = "no description";
    }
    enum status status = result == CUDA_ERROR_OUT_OF_MEMORY ? ST_BUSY : ST_DEVICE;
    return fail(err, status, "%s: %s (%d), %s", call, name, (int)result, text);
}

/* Lists the harmless errors, which refuse a call and leave the context intact, so that an unknown error of a
 * later driver ends the process. */
bool cuda_is_sticky(CUresult result) {
    switch ((int)result) {
    case CUDA_SUCCESS:
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_DEVICE_NOT_LICENSED:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_MAP_FAILED:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILATION_DISABLED:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_OPERATING_SYSTEM:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_NOT_FOUND:
    case CUDA_ERROR_NOT_READY:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE:
    case CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED:
    case CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED:
    case CUDA_ERROR_NOT_PERMITTED:
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        return false;
    default:
        return true;
    }
}
