/* SPDX-License-Identifier: MIT
 * Compiled modules kept on disk, so that NVRTC works once and not at every start.
 *
 * The driver executes any module that it is given, so files are not trusted: the folder must belong to this
 * user alone, and every byte of a file is checked before its content is returned. Any fault of the folder or
 * of a file costs one compilation. */
#ifndef BLURD_GPU_CUDA_MODULE_CACHE_H
#define BLURD_GPU_CUDA_MODULE_CACHE_H

#include "core/bytes.h"

/* A 128-bit hash of everything that determines a module's content. */
struct module_key {
    uint64_t high, low;
};

enum {
    MODULE_SIZE_MAX = 16 << 20, /* of one module; a hundred times what ours take */
    MODULE_FILES_MAX = 32       /* of this cache; the longest unused are removed beyond */
};

/* Begins a key, and adds a part to it; "a", "bc" and "ab", "c" make different keys. */
struct module_key module_key_begin(void);
void module_key_add(struct module_key *key, struct bytes part);

/* Opens the folder, making it (not its parents) if it is absent; -1 with the reason in
 * *err if it is not a folder of this user alone (mode 0700). The caller closes it. */
int module_cache_open(const char *folder, struct error *err);

/* Appends the module of `key` to `module`, which had better be empty; its maximum holds.
 * ST_ARGUMENT when there is none; ST_CORRUPT when it was damaged or foreign, and then it
 * is removed; `module` is then unchanged. */
enum status module_cache_load(int folder, const struct module_key *key, struct buf *module,
                              struct error *err);

/* Keeps a module. Readers see the old file, the new one or none, never half of one, also
 * with several writers. On failure nothing is left behind and the old file stays. */
enum status module_cache_store(int folder, const struct module_key *key, struct bytes module,
                               struct error *err);

#endif
