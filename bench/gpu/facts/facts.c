/* SPDX-License-Identifier: MIT */
#include "bench/gpu/facts/facts.h"

#include <dlfcn.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"

static const struct {
    const char *behaviour, *meaning;
    bool relied;
} texts[FACTS] = {
#define FACT(name, behaviour, meaning) [FACT_##name] = {behaviour, meaning, false},
#define RELIED(name, behaviour, meaning) [FACT_##name] = {behaviour, meaning, true},
#include "bench/gpu/facts/facts.def"
#undef FACT
#undef RELIED
};

/* The last one faults neighbours, and may disturb what is measured after it. */
static const struct {
    enum status (*run)(struct facts *facts, struct error *err);
    enum fact first, last;
} measurements[] = {
    {facts_start, FACT_INIT, FACT_MODULE_NEWER},
    {facts_launches, FACT_GRAPH, FACT_BLOCKING},
    {facts_priorities, FACT_COPY_PRIORITY, FACT_KERNEL_PRIORITY},
    {facts_rates, FACT_RATES, FACT_RATES},
    {facts_waits, FACT_WAITS, FACT_WAITS_POOL},
    {facts_pairs, FACT_PAIRS, FACT_PAIRS},
    {facts_contents, FACT_LEFT_SMALL, FACT_LEFT_OTHERS_SHARED},
    {facts_mapped, FACT_REGISTER, FACT_MAPPED},
    {facts_faults, FACT_FAULT_STALL, FACT_FAULT_OTHERS},
};

void facts_say(struct facts *facts, enum fact fact, const char *format, ...) {
    char *figure = facts->outcome[fact].figure;
    size_t used = strlen(figure);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(figure + used, FACTS_FIGURE - used, format, arguments);
    va_end(arguments);
}

void facts_break(struct facts *facts, enum fact fact) {
    facts->outcome[fact].broken = true;
}

double facts_ms_since(int64_t begin) {
    return (double)(clock_ns() - begin) / 1e6;
}

/* ---- kernels ---- */

enum status facts_need_kernels(const struct facts *facts, struct error *err) {
    return facts->module ? ST_OK : fail(err, ST_DEVICE, "%s", facts->missing);
}

enum status facts_launch(struct facts *facts, enum facts_kernel kernel, struct facts_blocks blocks,
                         CUstream stream, void *argument, struct error *err) {
    void *parameters[] = {argument};
    return CUDA_TRY(&facts->bench->cuda, err, cuLaunchKernel, facts->kernel[kernel], blocks.count, 1, 1,
                    blocks.threads, 1, 1, blocks.shared, stream, parameters, NULL);
}

enum status facts_look(struct facts *facts, enum facts_kernel kernel, struct facts_blocks blocks,
                       struct facts_words *words, uint64_t *found, struct error *err) {
    const struct cuda *cuda = &facts->bench->cuda;
    words->found = facts->found;
    enum status status = CUDA_TRY(cuda, err, cuMemsetD8Async, facts->found, 0, sizeof *found, facts->stream);
    if (status == ST_OK) {
        status = facts_launch(facts, kernel, blocks, facts->stream, words, err);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuMemcpyDtoHAsync, found, facts->found, sizeof *found, facts->stream);
    }
    return status == ST_OK ? CUDA_TRY(cuda, err, cuStreamSynchronize, facts->stream) : status;
}

static enum status find_kernels(struct facts *facts, struct error *err) {
    static const char *const names[FACTS_KERNELS] = {
#define KERNEL(name) #name,
#include "bench/gpu/facts/kernels.def"
#undef KERNEL
    };
    const struct cuda *cuda = &facts->bench->cuda;
    enum status status = ST_OK;
    for (int i = 0; i < FACTS_KERNELS && status == ST_OK; i++) {
        status = CUDA_TRY(cuda, err, cuModuleGetFunction, &facts->kernel[i], facts->module, names[i]);
    }
    for (int i = FACTS_KERNEL_facts_shared_fill; i <= FACTS_KERNEL_facts_shared_count && status == ST_OK;
         i++) {
        status = CUDA_TRY(cuda, err, cuFuncSetAttribute, facts->kernel[i],
                          CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)facts->shared);
    }
    return status;
}

/* No kernel of the program may have more shared memory than KERNEL_SHARED_MAX; a block of these has all of a
 * multiprocessor's, as far as the driver lets it. */
enum status facts_load(struct facts *facts, const void *image, struct error *err) {
    const struct cuda *cuda = &facts->bench->cuda;
    int sms = 0, shared = 0;
    enum status status = CUDA_TRY(cuda, err, cuDeviceGetAttribute, &sms,
                                  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, facts->bench->device.device);
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuDeviceGetAttribute, &shared,
                          CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, facts->bench->device.device);
    }
    facts->sms = (unsigned)sms;
    facts->shared = shared > KERNEL_SHARED_MAX ? (size_t)shared : (size_t)KERNEL_SHARED_MAX;
    int64_t begin = clock_ns();
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuModuleLoadData, &facts->module, image);
    }
    facts->load_ms = facts_ms_since(begin);
    return status == ST_OK ? find_kernels(facts, err) : status;
}

/* ---- the folder ---- */

static enum status write_file(const struct facts *facts, const char *name, const struct buf *content,
                              struct error *err) {
    char path[FACTS_PATH + 16];
    snprintf(path, sizeof path, "%s/%s", facts->folder, name);
    FILE *file = fopen(path, "we");
    bool written = file && fwrite(content->data, 1, content->size, file) == content->size;
    if (file) {
        written = fclose(file) == 0 && written;
    }
    return written ? ST_OK : fail(err, ST_INTERNAL, "cannot write %s", path);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place) {
    (void)about, (void)kind, (void)place;
    return remove(path);
}

static enum status prepare(struct facts *facts, struct error *err) {
    const struct cuda *cuda = &facts->bench->cuda;
    enum status status = CUDA_TRY(cuda, err, cuStreamCreate, &facts->stream, CU_STREAM_NON_BLOCKING);
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuMemAlloc, &facts->found, sizeof(uint64_t));
    }
    if (status == ST_OK) {
        status = bench_compile_source(facts->bench, facts_source, false, &facts->cubin, err);
    }
    if (status == ST_OK) {
        status = bench_compile_source(facts->bench, facts_source, true, &facts->ptx, err);
    }
    if (status == ST_OK) {
        status = write_file(facts, "cubin", &facts->cubin, err);
    }
    if (status == ST_OK) {
        status = write_file(facts, "ptx", &facts->ptx, err);
    }
    return status == ST_OK ? facts_load(facts, facts->cubin.data, err) : status;
}

void facts_find_more(struct facts *facts) {
    const struct {
        const char *name;
        void *to;
    } wanted[] = {{"cuCtxCreate_v2", &facts->more.context_create},
                  {"cuCtxDestroy_v2", &facts->more.context_destroy},
                  {"cuDevicePrimaryCtxReset_v2", &facts->more.primary_reset},
                  {"cuStreamCreateWithPriority", &facts->more.stream_create}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *address = dlsym(facts->bench->cuda.library, wanted[i].name);
        memcpy(wanted[i].to, &address, sizeof address); /* C has no cast from void * to a function */
    }
}

/* ---- the table ---- */

/* NVIDIA's own number, 580.159.04, or the driver's CUDA version. */
static void read_version(const struct facts *facts, char *text, size_t size) {
    FILE *file = fopen("/sys/module/nvidia/version", "re");
    bool there = file && !facts->bench->library && fgets(text, (int)size, file);
    if (file) {
        fclose(file);
    }
    if (!there) {
        snprintf(text, size, "CUDA %d.%d", facts->bench->cuda.version / 1000,
                 facts->bench->cuda.version % 1000 / 10);
    }
    text[strcspn(text, "\n")] = '\0';
}

static void measure(struct facts *facts) {
    for (size_t i = 0; i < sizeof measurements / sizeof *measurements; i++) {
        struct error err = {0};
        int64_t begin = clock_ns();
        enum status status = measurements[i].run(facts, &err);
        fprintf(stderr, "blurd-bench: facts %zu of %zu: %.1f s%s%s\n", i + 1,
                sizeof measurements / sizeof *measurements, facts_ms_since(begin) / 1e3,
                status == ST_OK ? "" : ", ", status == ST_OK ? "" : err.text);
        for (int f = (int)measurements[i].first; f <= (int)measurements[i].last && status != ST_OK; f++) {
            if (!facts->outcome[f].figure[0]) {
                facts_say(facts, (enum fact)f, "not measured: %s", err.text);
            }
        }
    }
}

static void print_table(struct facts *facts) {
    char version[48] = "";
    read_version(facts, version, sizeof version);
    printf("\n### Facts\n\n| behaviour | figure | driver | what it means |\n|---|---|---|---|\n");
    for (int f = 0; f < FACTS; f++) {
        const char *figure = facts->outcome[f].figure;
        printf("| %s%s | %s%s | %s | %s |\n", texts[f].behaviour, texts[f].relied ? " (relied on)" : "",
               facts->outcome[f].broken ? "**does not hold**: " : "", figure[0] ? figure : "not measured",
               version, texts[f].meaning);
        facts->bench->wrong += texts[f].relied && facts->outcome[f].broken;
    }
}

void bench_facts(struct bench *bench) {
    static struct facts facts;
    struct error err = {0};
    facts = (struct facts){.bench = bench, .folder = "/tmp/blurd-facts-XXXXXX"};
    buf_init(&facts.cubin, BENCH_IMAGE_MAX);
    buf_init(&facts.ptx, BENCH_IMAGE_MAX);
    if (!mkdtemp(facts.folder)) {
        give_up("no temporary folder");
    }
    facts_find_more(&facts);
    if (prepare(&facts, &err) != ST_OK) {
        facts.module = NULL;
        snprintf(facts.missing, sizeof facts.missing, "%.250s", err.text);
    }
    measure(&facts);
    print_table(&facts);
    nftw(facts.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    bench->cuda.cuMemFree(facts.found);
    bench->cuda.cuStreamDestroy(facts.stream);
    buf_finish(&facts.cubin);
    buf_finish(&facts.ptx);
}
