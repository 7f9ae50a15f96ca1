/* SPDX-License-Identifier: MIT
 * A process without memory, for children of check_child. */
#ifndef BLURD_TESTS_NO_MEMORY_FIXTURE_H
#define BLURD_TESTS_NO_MEMORY_FIXTURE_H

#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>

/* From here on no allocation succeeds, however small. False where that cannot be. */
static inline bool take_all_memory(void) {
    if (setrlimit(RLIMIT_AS, &(struct rlimit){1, 1}) != 0) {
        return false;
    }
    for (size_t size = 1 << 20; size > 0; size /= 2) {
        while (malloc(size)) {
        }
    }
    return true;
}

#endif
