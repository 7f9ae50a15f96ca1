/* SPDX-License-Identifier: MIT
 * Options, tokens and certificate, which may change at runtime, as an immutable snapshot. Each request keeps
 * the snapshot with which it began. */
#ifndef BLURD_SERVER_SETTINGS_H
#define BLURD_SERVER_SETTINGS_H

#include <pthread.h>
#include <stdatomic.h>

#include "config/config.h"
#include "server/message/tokens.h"
#include "server/pages/document.h"

struct report_keys;
struct tls_identity;

struct settings {
    _Atomic unsigned users;
    struct config config;          /* options that need a restart keep their first value */
    struct tokens *tokens;         /* NULL: no authentication */
    struct tls_identity *identity; /* NULL: no TLS */
    struct report_keys *report_keys;
    struct document document; /* /openapi.json for these options */
};

/* The current snapshot. Zero-initialise and settings_init. */
struct settings_holder {
    pthread_mutex_t lock; /* guards `now` until its users are counted */
    struct settings *now;
};

/* Creates a snapshot with one user, the caller. Reads the token and TLS files. ST_ARGUMENT with a
 * sentence. */
enum status settings_create(struct settings **settings, const struct config *config, struct error *err);

/* Drops one user; the last one frees the snapshot. NULL is allowed. */
void settings_drop(struct settings *settings);

/* Replaces the current snapshot (NULL: none yet); the holder takes over the caller's reference. */
void settings_init(struct settings_holder *holder);
void settings_replace(struct settings_holder *holder, struct settings *settings);
void settings_finish(struct settings_holder *holder);

/* Takes one more reference to a snapshot. Thread-safe, as is the next function. */
static inline struct settings *settings_share(struct settings *settings) {
    atomic_fetch_add(&settings->users, 1);
    return settings;
}

/* Takes a reference to the current snapshot. */
struct settings *settings_take(struct settings_holder *holder);

#endif
