#!/bin/bash
# SPDX-License-Identifier: MIT
# glibc 2.36 (Debian 12) and 2.41 (Debian 13): with mallopt's M_PERTURB, and with MALLOC_PERTURB_ in the environment, new memory is filled,
# says mallopt(3), and so is freed memory. It is not for blocks of up to 1032 bytes that the thread has freed itself: the cache of the thread, which glibc
# has had since 2.26, gives them back as they were, but for the first 16 bytes, in which it keeps two words of its own. Calls by posix_memalign with an alignment of 16
# go the same way. So the usual way to find reads of memory that was never written finds those of large blocks alone, and a program that sets it, so that a library cannot show
# what earlier work has left in memory, is not protected where blocks are small. GLIBC_TUNABLES=glibc.malloc.tcache_count=0, which is read at the
# start of a process alone, makes it hold for all sizes.
# It takes Debian's gcc and libc as they are installed. Ends with 77 where the C library is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat >try.c <<'C'
#include <gnu/libc-version.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *by_malloc(size_t size) { return malloc(size); }
static void *by_memalign(size_t size) {
    void *block = NULL;
    return posix_memalign(&block, 16, size) == 0 ? block : NULL;
}

/* The sizes of which a block has something of the one before, and the least that is left. */
static void try(const char *name, void *(*get)(size_t)) {
    size_t first = 0, last = 0, count = 0, kept = 4096;
    for (size_t size = 24; size <= 4096; size += 16) {
        unsigned char *block = get(size);
        memset(block, 0x5A, size);
        __asm__ volatile("" : : "r"(block) : "memory");
        free(block);
        block = get(size);
        __asm__ volatile("" : : "r"(block) : "memory");
        size_t left = 0;
        for (size_t i = 0; i < size; i++) {
            left += block[i] == 0x5A;
        }
        if (left) {
            first = first ? first : size;
            last = size;
            count++;
            kept = size - left < kept ? size - left : kept;
        }
        free(block);
    }
    printf("%s: %zu sizes", name, count);
    if (count) {
        printf(", %zu to %zu bytes, all but %zu bytes as they were", first, last, kept);
    }
    printf("\n");
}

int main(int count, char **argument) {
    (void)argument;
    if (count > 1) {
        mallopt(M_PERTURB, 0xFF);
    }
    try("malloc", by_malloc);
    try("posix_memalign", by_memalign);
    return 0;
}
C
gcc -O1 -o try try.c
ldd --version | head -n 1
case $(ldd --version | head -n 1) in *GLIBC*) ;; *) exit 77 ;; esac
expected='malloc: 64 sizes, 24 to 1032 bytes, all but 16 bytes as they were
posix_memalign: 64 sizes, 24 to 1032 bytes, all but 16 bytes as they were'
none='malloc: 0 sizes
posix_memalign: 0 sizes'
echo "mallopt(M_PERTURB):" && ./try set | tee seen && [ "$(cat seen)" = "$expected" ]
echo "MALLOC_PERTURB_=255:" && MALLOC_PERTURB_=255 ./try | tee seen && [ "$(cat seen)" = "$expected" ]
echo "and without the cache:" && GLIBC_TUNABLES=glibc.malloc.tcache_count=0 ./try set | tee seen && [ "$(cat seen)" = "$none" ]
