/* SPDX-License-Identifier: MIT
 * Compares the GPU's filters with the CPU's, byte by byte, over models, sizes, edges and arguments.
 *
 *     check_gpu [--quick] [--no-jpeg] [--sandbox] [--record] [--poison] [--filter NAME] [--share I/N] [blur]
 *               [filters] [orient] [encode] [colours] [faces] [text] [jpeg] [masks] [patch] [scans]
 *
 * If parts are named, only they run. --filter runs one section of the filters: that of a filter, `edges`,
 * `chains` or `large`, so that racecheck can run them side by side; --share 0/4 runs a quarter of a filter's
 * cases, and 1/4, 2/4 and 3/4 run the others if they have the same SEED. --no-jpeg leaves out the runs from
 * file to file. --sandbox enters the engine's sandbox once the driver is up; --record does, too, and prints
 * the refused calls at the end. --poison fills memory that kernels must not read (tests/gpu/poison.h). SEED=n
 * repeats a run, CUDA_LIBRARY=path opens another driver, MODULE_FORMAT=cubin|ptx|nvrtc loads the kernels in
 * that form. FACE_MODEL=path: the search for faces is also compared with that model.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/cpu.h"
#include "tests/gpu/check.h"
#include "tests/gpu/poison.h"
#include "tests/gpu/sandbox.h"

static enum module_format wanted_format(void) {
    static const char *const names[] = {"auto", "cubin", "ptx", "nvrtc"};
    const char *text = getenv("MODULE_FORMAT");
    enum module_format format = MODULE_AUTO;
    for (size_t i = 0; text && i < COUNT(names); i++) {
        format = strcmp(text, names[i]) == 0 ? (enum module_format)i : format;
    }
    return format;
}

static void open_all(struct check *check, bool poison) {
    struct error err = {0};
    struct program_options options = {.format = wanted_format()};
    const char *seed = getenv("SEED");
    check->random = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    must(cuda_open(&check->cuda, getenv("CUDA_LIBRARY"), &err), &err);
    if (poison) {
        poison_begin(&check->cuda);
    }
    must(gpu_device_open(&check->device, &check->cuda, 0, &options, &err), &err);
    if (poison) {
        must(poison_open(&check->cuda, &check->device, &err), &err);
    }
    must(jpeg_stream_init(&check->jpeg, &check->device, &err), &err);
    must(cpu_backend_open("auto", &check->reference, &err), &err);
    must(lane_create(check->reference, &check->reference_lane, &err), &err);
    printf("SEED=%llu, %s (sm_%d%d), kernels: %s, against %s\n", (unsigned long long)check->random,
           check->device.name, check->device.major, check->device.minor, check->device.program.how,
           check->reference->name);
}

static bool named(const char *name, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* The argument after the option; NULL without one. */
static const char *value_of(const char *option, int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], option) == 0) {
            return argv[i + 1];
        }
    }
    return NULL;
}

static const struct {
    const char *name;
    void (*check)(struct check *check, bool quick);
} parts[] = {{"blur", check_blur},     {"filters", check_filters}, {"orient", check_orient},
             {"encode", check_encode}, {"colours", check_colours}, {"faces", check_faces},
             {"text", check_text},     {"jpeg", check_jpeg},       {"masks", check_masks},
             {"patch", check_patch},   {"scans", check_scans}};

static bool any_part_named(int argc, char **argv) {
    for (size_t i = 0; i < COUNT(parts); i++) {
        if (named(parts[i].name, argc, argv)) {
            return true;
        }
    }
    return false;
}

/* The share that --share names; all without it. */
static void set_share(struct check *check, const char *text) {
    if (sscanf(text ? text : "0/1", "%u/%u", &check->share, &check->shares) != 2 ||
        check->share >= check->shares) {
        fprintf(stderr, "check_gpu: --share takes I/N with I below N, such as 0/4; it was \"%s\"\n", text);
        exit(EXIT_FAILURE);
    }
}

int main(int argc, char **argv) {
    static struct check check;
    bool quick = named("--quick", argc, argv), jpeg = !named("--no-jpeg", argc, argv);
    check.section = value_of("--filter", argc, argv);
    set_share(&check, value_of("--share", argc, argv));
    bool all = !any_part_named(argc, argv) && !check.section;
    bool record = named("--record", argc, argv), closed = record || named("--sandbox", argc, argv);
    if (closed) {
        sandbox_prepare();
    }
    open_all(&check, named("--poison", argc, argv));
    check_faces_open();
    if (closed) {
        sandbox_enter(record);
    }
    for (size_t i = 0; i < COUNT(parts); i++) {
        bool files = parts[i].check == check_jpeg || parts[i].check == check_masks;
        bool section = parts[i].check == check_filters && check.section;
        if ((all || section || named(parts[i].name, argc, argv)) && (jpeg || !files)) {
            parts[i].check(&check, quick);
        }
    }
    if (record) {
        sandbox_report();
    }
    poison_report();
    lane_destroy(check.reference_lane);
    backend_close(check.reference);
    jpeg_stream_finish(&check.jpeg);
    gpu_device_close(&check.device);
    printf("%u passed, %u failed\n", check.passed, check.failed);
    return check.failed == 0 && check.passed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
