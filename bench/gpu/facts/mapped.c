/* SPDX-License-Identifier: MIT
 * Memory of the host that the device reaches. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/gpu/facts/facts.h"
#include "core/clock.h"

enum { WRITABLE = PROT_READ | PROT_WRITE };
enum { SIZE = 64 << 20, SIZE_QUICK = 2 << 20, COPIES_THREADS = 1024 };

/* ---- registering ---- */

static size_t size_of(const struct facts *facts) {
    return facts->bench->quick ? SIZE_QUICK : SIZE;
}

/* Memory of a file without a name; NULL: none. */
static void *map_file(unsigned flags, size_t size) {
    int file = memfd_create("facts", MFD_CLOEXEC | flags);
    void *memory = MAP_FAILED;
    if (file >= 0 && ftruncate(file, (off_t)size) == 0) {
        memory = mmap(NULL, size, WRITABLE, MAP_SHARED, file, 0);
    }
    if (file >= 0) {
        close(file);
    }
    return memory == MAP_FAILED ? NULL : memory;
}

static void *map(int protection, bool touched, size_t size) {
    void *memory = map_file(0, size);
    if (memory && touched) {
        memset(memory, 1, size);
    }
    if (memory && mprotect(memory, size, protection) != 0) {
        munmap(memory, size);
        memory = NULL;
    }
    return memory;
}

/* Whether any memory of this process that is shared has huge pages. */
static bool has_huge_pages(void) {
    char line[128];
    unsigned long kib = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "ShmemPmdMapped: %lu", &kib) != 1) {
    }
    if (file) {
        fclose(file);
    }
    return kib > 0;
}

/* Maps memory in huge pages, reserved ones or transparent ones, and touches it. Returns NULL where the system
 * has neither. */
static void *map_huge(size_t size) {
    void *memory = map_file(MFD_HUGETLB, size);
    if (memory) { /* mmap has reserved them */
        memset(memory, 1, size);
        return memory;
    }
    memory = map_file(0, size);
    if (memory && madvise(memory, size, MADV_HUGEPAGE) == 0) {
        memset(memory, 1, size);
        if (has_huge_pages()) {
            return memory;
        }
    }
    if (memory) {
        munmap(memory, size);
    }
    return NULL;
}

/* Microseconds for each MiB. */
static CUresult time_register(struct facts *facts, void *memory, size_t size, unsigned flags, double *us,
                              double *undo_us) {
    const struct cuda *cuda = &facts->bench->cuda;
    int64_t begin = clock_ns();
    CUresult result = cuda->cuMemHostRegister(memory, size, flags);
    *us = facts_ms_since(begin) * 1000 / (double)(size >> 20);
    begin = clock_ns();
    if (result == CUDA_SUCCESS) {
        cuda->cuMemHostUnregister(memory);
    }
    *undo_us = facts_ms_since(begin) * 1000 / (double)(size >> 20);
    return result;
}

/* A kind of mapping. The first one that is registered may find the driver unprepared, so the second one
 * counts. */
struct kind {
    enum fact fact;
    const char *name;
    unsigned flags; /* of cuMemHostRegister */
    int protection;
    enum { UNTOUCHED, TOUCHED, HUGE } pages;
};

static void say_kind(struct facts *facts, const struct kind *kind) {
    const char *error = "no error", *comma = facts->outcome[kind->fact].figure[0] ? "; " : "";
    double us = 0, undo_us = 0;
    CUresult result = CUDA_SUCCESS;
    const size_t size = size_of(facts);
    for (int i = 0; i < 2 && result == CUDA_SUCCESS; i++) {
        void *memory =
            kind->pages == HUGE ? map_huge(size) : map(kind->protection, kind->pages == TOUCHED, size);
        if (!memory) {
            facts_say(facts, kind->fact, "%s%s: there are none here", comma, kind->name);
            return;
        }
        result = time_register(facts, memory, size, kind->flags, &us, &undo_us);
        munmap(memory, size);
    }
    if (result == CUDA_SUCCESS) {
        facts_say(facts, kind->fact, "%s%s: %.0f µs, undone in %.0f µs", comma, kind->name, us, undo_us);
    } else {
        facts->bench->cuda.cuGetErrorName(result, &error);
        facts_say(facts, kind->fact, "%s%s: %s", comma, kind->name, error);
    }
}

static void measure_register(struct facts *facts) {
    static const struct kind kinds[] = {
        {FACT_REGISTER, "touched", 0, WRITABLE, TOUCHED},
        {FACT_REGISTER, "untouched", 0, WRITABLE, UNTOUCHED},
        {FACT_REGISTER, "huge pages", 0, WRITABLE, HUGE},
        {FACT_REGISTER_READ_ONLY, "without the flag", 0, PROT_READ, TOUCHED},
        {FACT_REGISTER_READ_ONLY, "with `CU_MEMHOSTREGISTER_READ_ONLY`", CU_MEMHOSTREGISTER_READ_ONLY,
         PROT_READ, TOUCHED},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        say_kind(facts, &kinds[i]);
    }
}

/* ---- kernels ---- */

static enum status time_kernel(struct facts *facts, enum facts_kernel kernel, unsigned blocks,
                               struct facts_words *words, double *gb_s, struct error *err) {
    const struct cuda *cuda = &facts->bench->cuda;
    const struct gpu_stream *stream = &facts->bench->stream;
    float ms = 0;
    enum status status = CUDA_TRY(cuda, err, cuEventRecord, stream->begin, facts->stream);
    if (status == ST_OK) {
        status = facts_launch(facts, kernel, (struct facts_blocks){blocks, COPIES_THREADS, 0}, facts->stream,
                              words, err);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuEventRecord, stream->filtered, facts->stream);
    }
    status = status == ST_OK ? CUDA_TRY(cuda, err, cuStreamSynchronize, facts->stream) : status;
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuEventElapsedTime, &ms, stream->begin, stream->filtered);
    }
    *gb_s = (double)words->count * sizeof(uint32_t) / ((double)ms * 1e6);
    return status;
}

enum status facts_mapped(struct facts *facts, struct error *err) {
    const struct cuda *cuda = &facts->bench->cuda;
    static const unsigned blocks[] = {1, 1, 16}; /* the first one warms */
    const size_t size = size_of(facts);
    void *memory = NULL;
    measure_register(facts);
    enum status status = facts_need_kernels(facts, err);
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuMemHostAlloc, &memory, size, CU_MEMHOSTALLOC_DEVICEMAP);
    }
    struct facts_words words = {.data = (uintptr_t)memory, .count = size / sizeof(uint32_t), .value = 1};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks && status == ST_OK; i++) {
        double written = 0, read = 0;
        words.value = 1;
        status = time_kernel(facts, FACTS_KERNEL_facts_fill, blocks[i], &words, &written, err);
        words.value = 2;
        words.found = facts->found;
        status = status == ST_OK ? time_kernel(facts, FACTS_KERNEL_facts_count, blocks[i], &words, &read, err)
                                 : status;
        if (status == ST_OK && i > 0) {
            facts_say(facts, FACT_MAPPED, "%s%u: writes %.1f GB/s, reads %.1f GB/s", i > 1 ? "; " : "",
                      blocks[i], written, read);
        }
    }
    if (memory) {
        cuda->cuMemFreeHost(memory);
    }
    return status;
}
