/* SPDX-License-Identifier: MIT
 * A file of the module cache. The first byte says whether the rest is the file itself, or
 * changes (offset of two bytes, value) to one that the cache has written. */
#include "gpu/cuda/module_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/common/fuzz.h"

static const char module[] = "a module of the cache, long enough to be cut in places";
static const struct module_key key = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)};
static const char name[] = "0123456789abcdeffedcba9876543210.module";
static char folder[] = "/tmp/fuzz-modules-XXXXXX";
static int handle = -1;

static void leave(void) {
    unlinkat(handle, name, 0);
    rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    struct error err = {0};
    fuzz_require(mkdtemp(folder), "there is a folder");
    handle = module_cache_open(folder, &err);
    fuzz_require(handle >= 0, "the folder opens");
    atexit(leave);
    return 0;
}

static void put_file(struct bytes content) {
    int fd = openat(handle, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_require(fd >= 0 && write(fd, content.data, content.size) == (ssize_t)content.size,
                 "the file takes it");
    close(fd);
}

/* Stores the module and changes the file; returns whether that altered anything. */
static bool change_file(struct bytes changes) {
    uint8_t content[4096], before[sizeof content];
    struct error err = {0};
    fuzz_require(module_cache_store(handle, &key, (struct bytes){(const uint8_t *)module, sizeof module},
                                    &err) == ST_OK,
                 "a module is stored");
    int fd = openat(handle, name, O_RDONLY | O_CLOEXEC);
    ssize_t size = read(fd, content, sizeof content);
    close(fd);
    fuzz_require(size > 0, "the stored file can be read");
    memcpy(before, content, (size_t)size);
    size_t kept = (size_t)size;
    while (changes.size > 0) {
        size_t offset = fuzz_short(&changes) % 256;
        uint8_t value = fuzz_byte(&changes);
        if (offset < (size_t)size) {
            content[offset] ^= value;
        } else {
            kept = value < (size_t)size ? value : (size_t)size;
        }
    }
    put_file((struct bytes){content, kept});
    return kept != (size_t)size || memcmp(content, before, kept) != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes input = {data, size};
    bool changed = true;
    if (fuzz_byte(&input) & 1) {
        changed = change_file(input);
    } else {
        put_file(input);
    }
    struct buf found;
    struct error err = {0};
    buf_init(&found, MODULE_SIZE_MAX);
    enum status status = module_cache_load(handle, &key, &found, &err);
    fuzz_require(changed ? status == ST_CORRUPT && found.size == 0 && err.text[0]
                         : status == ST_OK && found.size == sizeof module &&
                               memcmp(found.data, module, sizeof module) == 0,
                 "a changed file is found out, another one is not");
    fuzz_require(!changed || faccessat(handle, name, F_OK, 0) != 0, "a damaged file is removed");
    buf_finish(&found);
    return 0;
}
