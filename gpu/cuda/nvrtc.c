/* SPDX-License-Identifier: MIT */
#include "gpu/cuda/nvrtc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A fused multiply-add rounds once, the CPU rounds twice; the pixels must be equal (docs/filters.md). */
static const char *const options[] = {"--std=c++17", "--fmad=false"};

enum { OPTIONS = sizeof options / sizeof *options, ARCHITECTURES_MAX = 64 };

/* NVRTC has no standard headers. These replace three, so that the C compiler and NVRTC share one parameter
 * header. `bool` and `size_t` are built in; `offsetof` is missing. */
static const char *const header_names[] = {"stdint.h", "stddef.h", "stdbool.h"};
static const char *const header_texts[] = {
    "#pragma once\n"
    "typedef signed char int8_t; typedef unsigned char uint8_t;\n"
    "typedef short int16_t; typedef unsigned short uint16_t;\n"
    "typedef int int32_t; typedef unsigned int uint32_t;\n"
    "typedef long int64_t; typedef unsigned long uint64_t;\n"
    "typedef long intptr_t; typedef unsigned long uintptr_t;\n",
    "#pragma once\n",
    "#pragma once\n",
};

struct nvrtc_symbol {
    const char *name;
    size_t offset;
};

#define NVRTC(name, ...) {#name, offsetof(struct nvrtc, name)},
static const struct nvrtc_symbol symbols[] = {
#include "gpu/cuda/nvrtc.def"
    {"nvrtcGetErrorString", offsetof(struct nvrtc, nvrtcGetErrorString)},
};
#undef NVRTC

static enum status check(const struct nvrtc *nvrtc, nvrtcResult result, const char *call, struct error *err) {
    if (result == 0) {
        return ST_OK;
    }
    return fail(err, ST_DEVICE, "%s: %s (%d)", call, nvrtc->nvrtcGetErrorString(result), result);
}
#define TRY(nvrtc, err, function, ...) check(nvrtc, (nvrtc)->function(__VA_ARGS__), #function, err)

static void *open_newest(int newest) {
    static const struct {
        int version;
        const char *name;
    } known[] = {{13, "libnvrtc.so.13"}, {12, "libnvrtc.so.12"}, {11, "libnvrtc.so.11.2"}};
    void *library = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known && !library; i++) {
        library = known[i].version <= newest ? dlopen(known[i].name, RTLD_NOW | RTLD_LOCAL) : NULL;
    }
    return library;
}

enum status nvrtc_open(struct nvrtc *nvrtc, const char *library, int newest, struct error *err) {
    *nvrtc =
        (struct nvrtc){.library = library ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : open_newest(newest)};
    if (!nvrtc->library && library) {
        return fail(err, ST_DEVICE, "no NVRTC: %s", dlerror());
    }
    if (!nvrtc->library) {
        return fail(err, ST_DEVICE, "no NVRTC: there is no libnvrtc.so of CUDA %d or an older one", newest);
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(nvrtc->library, symbols[i].name);
        if (!address) {
            return fail(err, ST_DEVICE, "this NVRTC lacks the function %s", symbols[i].name);
        }
        memcpy((char *)nvrtc + symbols[i].offset, &address, sizeof address);
    }
    return TRY(nvrtc, err, nvrtcVersion, &nvrtc->major, &nvrtc->minor);
}

enum status nvrtc_choose(const struct nvrtc *nvrtc, int architecture, struct nvrtc_target *target,
                         struct error *err) {
    int known[ARCHITECTURES_MAX], count = 0, best = 0;
    enum status status = TRY(nvrtc, err, nvrtcGetNumSupportedArchs, &count);
    if (status == ST_OK && count > ARCHITECTURES_MAX) {
        return fail(err, ST_DEVICE, "NVRTC knows %d architectures, more than can be right", count);
    }
    if (status == ST_OK) {
        status = TRY(nvrtc, err, nvrtcGetSupportedArchs, known);
    }
    for (int i = 0; status == ST_OK && i < count; i++) {
        best = known[i] <= architecture && known[i] > best ? known[i] : best;
    }
    if (status == ST_OK && best == 0) {
        return fail(err, ST_DEVICE, "NVRTC %d.%d makes nothing for GPUs as old as sm_%d", nvrtc->major,
                    nvrtc->minor, architecture);
    }
    *target = (struct nvrtc_target){best, best != architecture};
    return status;
}

static const char *describe_target(struct nvrtc_target target, char text[48]) {
    snprintf(text, 48, "--gpu-architecture=%s_%d", target.ptx ? "compute" : "sm", target.architecture);
    return text;
}

void nvrtc_describe(const struct nvrtc *nvrtc, struct nvrtc_target target, char text[NVRTC_DESCRIPTION_MAX]) {
    char architecture[48];
    int used = snprintf(text, NVRTC_DESCRIPTION_MAX, "nvrtc %d.%d %s", nvrtc->major, nvrtc->minor,
                        describe_target(target, architecture));
    for (size_t i = 0; i < OPTIONS && used < NVRTC_DESCRIPTION_MAX; i++) {
        used += snprintf(text + used, (size_t)(NVRTC_DESCRIPTION_MAX - used), " %s", options[i]);
    }
}

/* The first line of an error, else the first line; notes and warnings may precede it. NVRTC writes "error:",
 * and ptxas, which it calls, "error   :" and "fatal   :". */
static const char *find_error(const char *log) {
    static const char *const words[] = {"error", "fatal"};
    for (const char *line = log; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            const char *word = memmem(line, length, words[i], strlen(words[i]));
            const char *behind = word ? word + strlen(words[i]) : "";
            if (behind[strspn(behind, " ")] == ':') {
                return line;
            }
        }
    }
    return log;
}

static enum status fail_compile(const struct nvrtc *nvrtc, nvrtcProgram program, nvrtcResult result,
                                struct error *err) {
    size_t size = 0;
    char *log = nvrtc->nvrtcGetProgramLogSize(program, &size) == 0 ? calloc(1, size + 1) : NULL;
    if (!log || nvrtc->nvrtcGetProgramLog(program, log) != 0) {
        free(log);
        return check(nvrtc, result, "nvrtcCompileProgram", err);
    }
    const char *line = find_error(log);
    enum status status =
        fail(err, ST_DEVICE, "NVRTC %d.%d: %.*s", nvrtc->major, nvrtc->minor, (int)strcspn(line, "\n"), line);
    free(log);
    return status;
}

/* Leaves out the final zero that NVRTC counts as part of PTX. */
static enum status take_image(const struct nvrtc *nvrtc, nvrtcProgram program, bool ptx, struct buf *image,
                              struct error *err) {
    size_t size = 0;
    enum status status = ptx ? TRY(nvrtc, err, nvrtcGetPTXSize, program, &size)
                             : TRY(nvrtc, err, nvrtcGetCUBINSize, program, &size);
    if (status == ST_OK && size <= ptx) {
        return fail(err, ST_DEVICE, "NVRTC %d.%d made nothing", nvrtc->major, nvrtc->minor);
    }
    if (status == ST_OK) {
        status = buf_reserve(image, size, err);
    }
    if (status == ST_OK) {
        char *end = (char *)image->data + image->size;
        status =
            ptx ? TRY(nvrtc, err, nvrtcGetPTX, program, end) : TRY(nvrtc, err, nvrtcGetCUBIN, program, end);
    }
    image->size += status == ST_OK ? size - ptx : 0;
    return status;
}

enum status nvrtc_compile(const struct nvrtc *nvrtc, const char *source, struct nvrtc_target target,
                          struct buf *image, struct error *err) {
    char architecture[48];
    const char *arguments[OPTIONS + 1];
    memcpy(arguments, options, sizeof options);
    arguments[OPTIONS] = describe_target(target, architecture);
    nvrtcProgram program;
    enum status status = TRY(nvrtc, err, nvrtcCreateProgram, &program, source, "blurd.cu",
                             sizeof header_names / sizeof *header_names, header_texts, header_names);
    if (status != ST_OK) {
        return status;
    }
    nvrtcResult result = nvrtc->nvrtcCompileProgram(program, OPTIONS + 1, arguments);
    status = result == 0 ? take_image(nvrtc, program, target.ptx, image, err)
                         : fail_compile(nvrtc, program, result, err);
    nvrtc->nvrtcDestroyProgram(&program);
    return status;
}
