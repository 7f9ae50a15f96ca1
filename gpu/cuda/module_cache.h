/* SPDX-License-Identifier: MIT
 * A cache of compiled modules on disk, so that NVRTC does not run at every start.
 *
 * The driver executes any module, so files are not trusted: the folder must belong to this user alone, and
 * a load checks every byte. A fault of the folder or of a file costs one compilation. */
#ifndef BLURD_GPU_CUDA_MODULE_CACHE_H
#define BLURD_GPU_CUDA_MODULE_CACHE_H

#include "core/bytes.h"

/* A 128-bit hash of all inputs that determine a module. */
struct module_key {
    uint64_t high, low;
};

enum {
    MODULE_SIZE_MAX = 16 << 20, /* of one module; a hundred times the usual size */
    MODULE_FILES_MAX = 32       /* of this cache; beyond, the least recently used are removed */
};

/* Begins a key, and adds a part. The parts "a", "bc" and "ab", "c" give different keys. */
struct module_key module_key_begin(void);
void module_key_add(struct module_key *key, struct bytes part);

/* Opens the folder, and makes it (not its parents) if it is absent. The caller closes it. Returns -1 with the
 * reason in *err unless it is a folder of this user alone (mode 0700). */
int module_cache_open(const char *folder, struct error *err);

/* Appends the module of `key` to `module`, within its maximum. ST_ARGUMENT without such a module; ST_CORRUPT,
 * and the file is removed, for a damaged or foreign one. A failure leaves `module` unchanged. */
enum status module_cache_load(int folder, const struct module_key *key, struct buf *module,
                              struct error *err);

/* Stores a module. Readers see the old file, the new one or none, even with several writers. A failure leaves
 * the old file and nothing else. */
enum status module_cache_store(int folder, const struct module_key *key, struct bytes module,
                               struct error *err);

#endif
