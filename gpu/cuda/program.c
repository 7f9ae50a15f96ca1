/* SPDX-License-Identifier: MIT */
#include "gpu/cuda/program.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/tuned.h"
#include "core/version.h"
#include "gpu/cuda/embedded.h"
#include "gpu/cuda/module_cache.h"
#include "gpu/cuda/nvrtc.h"

/* The program to load, for all loaders. */
struct program_request {
    const struct cuda *cuda;
    const struct program_options *options;
    int architecture;   /* 90 for compute capability 9.0 */
    const char *source; /* for NVRTC; NULL until it is needed */
};

static const char *const kernel_names[] = {
#define KERNEL(name) #name,
#include "gpu/cuda/kernels.def"
#undef KERNEL
};

/* Adds the first line of the driver's PTX compiler log to the error. Machine code has no such log. */
static enum status load_ptx_image(struct program *program, const struct cuda *cuda, const void *image,
                                  struct error *err) {
    char log[160] = "";
    CUjit_option keys[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
    if (!cuda->cuModuleLoadDataEx) {
        return CUDA_TRY(cuda, err, cuModuleLoadData, &program->module, image);
    }
    enum status status = CUDA_TRY(cuda, err, cuModuleLoadDataEx, &program->module, image, 2, keys, values);
    if (status == ST_OK || !log[0]) {
        return status;
    }
    struct error cause = err ? *err : (struct error){0};
    return fail(err, status, "%.*s: %.*s", 90, cause.text, (int)strcspn(log, "\n"), log);
}

static enum status load_image(struct program *program, const struct cuda *cuda, const void *image, bool ptx,
                              struct error *err) {
    int64_t begin = clock_ns();
    enum status status = ptx ? load_ptx_image(program, cuda, image, err)
                             : CUDA_TRY(cuda, err, cuModuleLoadData, &program->module, image);
    program->load_ns = clock_ns() - begin;
    return status;
}

static enum status load_embedded(struct program *program, const struct cuda *cuda,
                                 const struct embedded *code, bool ptx, struct error *err) {
    struct buf image;
    enum status status = embedded_image(code, &image, err);
    status = status == ST_OK ? load_image(program, cuda, image.data, ptx, err) : status;
    buf_finish(&image);
    return status;
}

/* Machine code runs on GPUs of its major number and the same or a larger minor number. */
static const struct embedded *choose_cubin(int architecture) {
    const struct embedded *best = NULL;
    for (const struct embedded *cubin = embedded_cubins; cubin->data; cubin++) {
        if (embedded_exists(cubin) && cubin->architecture / 10 == architecture / 10 &&
            cubin->architecture <= architecture) {
            best = cubin;
        }
    }
    return best;
}

static enum status load_cubin(struct program *program, const struct program_request *request,
                              struct error *err) {
    const struct embedded *cubin = choose_cubin(request->architecture);
    if (!cubin) {
        return fail(err, ST_DEVICE, "this binary has no machine code for sm_%d", request->architecture);
    }
    snprintf(program->how, sizeof program->how, "cubin sm_%d", cubin->architecture);
    return load_embedded(program, request->cuda, cubin, false, err);
}

static enum status load_ptx(struct program *program, const struct program_request *request,
                            struct error *err) {
    if (!embedded_exists(&embedded_ptx) || embedded_ptx.architecture > request->architecture) {
        return fail(err, ST_DEVICE, "this binary has no PTX for sm_%d", request->architecture);
    }
    snprintf(program->how, sizeof program->how, "ptx compute_%d", embedded_ptx.architecture);
    return load_embedded(program, request->cuda, &embedded_ptx, true, err);
}

static struct module_key key_of(const struct program_request *request, const struct nvrtc *nvrtc,
                                struct nvrtc_target target) {
    char text[NVRTC_DESCRIPTION_MAX];
    struct module_key key = module_key_begin();
    nvrtc_describe(nvrtc, target, text);
    const struct bytes parts[] = {
        {(const uint8_t *)BLURD_VERSION, strlen(BLURD_VERSION)},
        {(const uint8_t *)text, strlen(text)},
        {(const uint8_t *)&request->cuda->version, sizeof request->cuda->version},
        {(const uint8_t *)request->source, strlen(request->source)},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        module_key_add(&key, parts[i]);
    }
    return key;
}

/* Warns once, since all GPUs of the host share the cause. */
static void warn_once(const struct error *err) {
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&warned)) {
        log_message(LOG_WARNING, "module_cache", "compiled kernels are not kept: %s", err->text);
    }
}

static int open_cache(const char *folder) {
    struct error err = {0};
    if (!folder || !folder[0]) {
        return -1;
    }
    int cache = module_cache_open(folder, &err);
    if (cache < 0) {
        warn_once(&err);
    }
    return cache;
}

static enum status compile_and_store(struct buf *image, const char *source, const struct nvrtc *nvrtc,
                                     struct nvrtc_target target, int cache, const struct module_key *key,
                                     struct error *err) {
    struct error store_err = {0};
    enum status status = nvrtc_compile(nvrtc, source, target, image, err);
    if (status == ST_OK && cache >= 0 &&
        module_cache_store(cache, key, buf_bytes(image), &store_err) != ST_OK) {
        warn_once(&store_err);
    }
    return status;
}

/* Loads from the cache. A valid file that does not load is compiled again. */
static bool load_cached(struct program *program, const struct cuda *cuda, int cache,
                        const struct module_key *key, struct nvrtc_target target) {
    struct buf image;
    struct error err = {0};
    buf_init(&image, MODULE_SIZE_MAX + 1);
    enum status status = cache < 0 ? ST_ARGUMENT : module_cache_load(cache, key, &image, &err);
    if (status == ST_OK) {
        status = buf_append(&image, "", 1, &err);
    }
    if (status == ST_OK) {
        status = load_image(program, cuda, image.data, target.ptx, &err);
    }
    if (status != ST_OK && status != ST_ARGUMENT) {
        log_message(LOG_INFO, "module_cache", "%s: compiling again", err.text);
    }
    buf_finish(&image);
    return status == ST_OK;
}

static enum status load_compiled(struct program *program, const struct program_request *request,
                                 const struct nvrtc *nvrtc, int cache, struct nvrtc_target target,
                                 struct error *err) {
    struct buf image;
    struct module_key key = key_of(request, nvrtc, target);
    bool cached = load_cached(program, request->cuda, cache, &key, target);
    snprintf(program->how, sizeof program->how, "nvrtc %s_%d%s", target.ptx ? "compute" : "sm",
             target.architecture, cached ? " (cached)" : "");
    if (cached) {
        return ST_OK;
    }
    buf_init(&image, NVRTC_IMAGE_MAX + 1);
    int64_t begin = clock_ns();
    enum status status = compile_and_store(&image, request->source, nvrtc, target, cache, &key, err);
    program->compile_ns = clock_ns() - begin;
    if (status == ST_OK) {
        status = buf_append(&image, "", 1, err);
    }
    if (status == ST_OK) {
        status = load_image(program, request->cuda, image.data, target.ptx, err);
    }
    buf_finish(&image);
    return status;
}

static enum status compile_with(struct program *program, const struct program_request *request,
                                struct error *err) {
    struct nvrtc nvrtc;
    struct nvrtc_target target;
    enum status status = nvrtc_open(&nvrtc, NULL, request->cuda->version / 1000, err);
    if (status == ST_OK) {
        status = nvrtc_choose(&nvrtc, request->architecture, &target, err);
    }
    if (status != ST_OK) {
        return status;
    }
    int cache = open_cache(request->options->cache_folder);
    status = load_compiled(program, request, &nvrtc, cache, target, err);
    if (cache >= 0) {
        close(cache);
    }
    return status;
}

static enum status load_nvrtc(struct program *program, const struct program_request *asked,
                              struct error *err) {
    struct program_request request = *asked;
    struct buf text = {0};
    enum status status = asked->options->source ? ST_OK : embedded_image(&embedded_source, &text, err);
    request.source = asked->options->source ? asked->options->source : (const char *)text.data;
    status = status == ST_OK ? compile_with(program, &request, err) : status;
    buf_finish(&text);
    return status;
}

static const struct loader {
    enum module_format format;
    const char *name;
    enum status (*load)(struct program *program, const struct program_request *request, struct error *err);
} loaders[] = {
    {MODULE_CUBIN, "cubin", load_cubin},
    {MODULE_PTX, "ptx", load_ptx},
    {MODULE_NVRTC, "nvrtc", load_nvrtc},
};

/* The kernels of gpu/jpeg, which stand together in kernels.def. */
static bool is_codec(int kernel) {
    return kernel >= KERNEL_huffman_sync && kernel <= KERNEL_encode_stuff;
}

/* A multiprocessor drains before it divides its memory between shared memory and cache in another way.
 * Kernels of several pictures take turns on it, so those of the codecs prefer the same division. Filters
 * keep the driver's choice: dilation and large medians live from the cache. */
static CUresult find_kernel(struct program *program, const struct cuda *cuda, int i) {
    CUresult result = cuda->cuModuleGetFunction(&program->kernel[i], program->module, kernel_names[i]);
    if (result == CUDA_SUCCESS && is_codec(i)) {
        result = cuda->cuFuncSetAttribute(
            program->kernel[i], CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, TUNED_GPU_SHARED_PERCENT);
    }
    size_t offset;
    if (result == CUDA_SUCCESS && cuda->cuFuncGetParamInfo &&
        cuda->cuFuncGetParamInfo(program->kernel[i], 0, &offset, &program->argument[i]) != CUDA_SUCCESS) {
        program->argument[i] = 0; /* it has none */
    }
    return result;
}

/* After a sticky error the module is not unloaded. */
static enum status find_kernels(struct program *program, const struct cuda *cuda, struct error *err) {
    for (int i = 0; i < KERNEL_COUNT; i++) {
        CUresult result = find_kernel(program, cuda, i);
        if (result != CUDA_SUCCESS) {
            if (!cuda_is_sticky(result)) {
                program_unload(program, cuda);
            }
            return cuda_check(cuda, result, kernel_names[i], err);
        }
    }
    return ST_OK;
}

static enum status try_loader(struct program *program, const struct loader *loader,
                              const struct program_request *request, struct error *err) {
    *program = (struct program){0};
    enum status status = loader->load(program, request, err);
    if (status == ST_OK) {
        status = find_kernels(program, request->cuda, err);
    }
    if (status != ST_OK) {
        *program = (struct program){0};
    }
    return status;
}

enum status program_load(struct program *program, const struct cuda *cuda, int major, int minor,
                         const struct program_options *options, struct error *err) {
    const struct program_request request = {cuda, options, major * 10 + minor, NULL};
    struct error cause = {0};
    char causes[ERROR_TEXT_MAX] = ""; /* of all loaders, since the last may say least */
    size_t used = 0;
    for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++) {
        if (options->format != MODULE_AUTO && options->format != loaders[i].format) {
            continue;
        }
        if (try_loader(program, &loaders[i], &request, &cause) == ST_OK) {
            return ST_OK;
        }
        if (options->format == MODULE_AUTO) {
            log_message(LOG_INFO, "module", "%s cannot be used: %s", loaders[i].name, cause.text);
        }
        used += (size_t)snprintf(causes + used, sizeof causes - used, "%s%s: %.*s", used ? "; " : "",
                                 loaders[i].name, options->format == MODULE_AUTO ? 75 : 200, cause.text);
    }
    return fail(err, cause.status, "%s", causes);
}

void program_unload(struct program *program, const struct cuda *cuda) {
    if (program->module) {
        cuda->cuModuleUnload(program->module);
    }
    *program = (struct program){0};
}
