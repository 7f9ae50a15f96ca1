/* SPDX-License-Identifier: MIT
 * A map from names to what is known of each, in 10 to 20 bytes a name: it holds digests, not the names. One
 * thread at a time. */
#ifndef BLURD_SERVER_BATCH_INPUT_NAMES_H
#define BLURD_SERVER_BATCH_INPUT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bytes.h"
#include "core/status.h"

struct names;

/* The digests are 64 bits of SHA-256 with a key that is drawn: a person who chooses names cannot make
 * two of them one. ST_BUSY without memory or random numbers. */
enum status names_create(struct names **names, struct error *err);
void names_destroy(struct names *names);

/* Takes memory for so many names at once: growing later needs half as much more for a moment. */
enum status names_reserve(struct names *names, uint64_t count, struct error *err);

/* Stands for a name, or for other bytes; below 1 << 63 and never 0. */
uint64_t names_digest(const struct names *names, struct bytes data);

/* Sets what is known of a name; 0: nothing, which is so of names that were never set. */
enum status names_set(struct names *names, uint64_t digest, uint32_t state, struct error *err);
uint32_t names_get(const struct names *names, uint64_t digest);

/* Takes a name of the output for a file. *taken: it was taken before. */
enum status names_take(struct names *names, uint64_t digest, bool *taken, struct error *err);

#endif
