/* SPDX-License-Identifier: MIT
 *     blurd-bench [--quick] [start] [launch] [blur] [filters] [resize] [faces] [text] [persons] [saxpy]
 *                 [jpeg] [profile] [facts]
 *
 * Without a section it runs all but `profile` and `facts`.
 *
 * PICTURES=folder has the JPEGs, all of one size, for `jpeg`; without it that is left out.
 * BLURD_CUDA_LIBRARY=path opens another driver. Ends with 77 where
 * there is none, with 1 when a result is wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gpu/facts/facts.h"

#define CHILD_ARGUMENT "--start-child"

static const struct section {
    const char *name;
    void (*run)(struct bench *bench);
    bool only_named;
} sections[] = {
    {"launch", bench_launch, false},   {"blur", bench_blur, false},   {"filters", bench_filters, false},
    {"resize", bench_resize, false},   {"faces", bench_faces, false}, {"text", bench_text, false},
    {"persons", bench_persons, false}, {"saxpy", bench_saxpy, false}, {"jpeg", bench_jpeg, false},
    {"profile", bench_profile, true},  {"facts", bench_facts, true}};

enum { SECTIONS = sizeof sections / sizeof *sections };

static bool wanted(const char *name, bool only_named, int argc, char **argv) {
    bool named = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0 || strcmp(argv[i], "all") == 0) {
            return true;
        }
        named = named || argv[i][0] != '-';
    }
    return !named && !only_named;
}

static bool known(const char *argument) {
    bool found =
        strcmp(argument, "--quick") == 0 || strcmp(argument, "all") == 0 || strcmp(argument, "start") == 0;
    for (size_t i = 0; i < SECTIONS; i++) {
        found = found || strcmp(argument, sections[i].name) == 0;
    }
    return found;
}

int main(int argc, char **argv) {
    static struct bench bench;
    bool any = false;
    bench.library = getenv("BLURD_CUDA_LIBRARY");
    bench.pictures = getenv("PICTURES");
    if (argc == 4 && strcmp(argv[1], CHILD_ARGUMENT) == 0) {
        return bench_start_child(bench.library, argv[2], argv[3]);
    }
    if (argc == 5 && strcmp(argv[1], FACTS_CHILD) == 0) {
        return facts_child(bench.library, argv + 2);
    }
    for (int i = 1; i < argc; i++) {
        if (!known(argv[i])) {
            fprintf(stderr, "usage: blurd-bench [--quick] [start] [launch] [blur] [filters] [resize] [faces] "
                            "[text] [persons] [saxpy] "
                            "[jpeg] [profile] [facts] [all]\n");
            return 64;
        }
        bench.quick = bench.quick || strcmp(argv[i], "--quick") == 0;
    }
    /* Before the driver is opened here: a GPU in use by another process starts faster. */
    if (wanted("start", false, argc, argv)) {
        bench_start(&bench, CHILD_ARGUMENT);
    }
    for (size_t i = 0; i < SECTIONS; i++) {
        any = any || wanted(sections[i].name, sections[i].only_named, argc, argv);
    }
    if (any) {
        bench_open(&bench);
        bench_compile(&bench);
    }
    for (size_t i = 0; i < SECTIONS; i++) {
        if (wanted(sections[i].name, sections[i].only_named, argc, argv)) {
            sections[i].run(&bench);
            fflush(stdout);
        }
    }
    if (any) {
        bench_close(&bench);
    }
    printf("\n%s\n",
           bench.wrong == 0 ? "Every result that was checked is right." : "WRONG RESULTS, see above.");
    return bench.wrong == 0 ? 0 : 1;
}
