/* SPDX-License-Identifier: MIT
 * What may change while the daemon runs: options, tokens and certificate, as one immutable snapshot. Each
 * request keeps the one it began with, so that it sees nothing change half way. */
#ifndef BLURD_SERVER_SETTINGS_H
#define BLURD_SERVER_SETTINGS_H

#include <pthread.h>
#include <stdatomic.h>

#include "config/config.h"
#include "server/message/tokens.h"
#include "server/pages/document.h"

struct tls_identity;

struct settings {
    _Atomic unsigned users;
    struct config config;          /* options that need a restart are as they were at the start */
    struct tokens *tokens;         /* NULL: no authentication */
    struct tls_identity *identity; /* NULL: no TLS */
    struct document document;      /* what /openapi.json says under them */
};

/* The current snapshot. Zero-initialise and settings_init. */
struct settings_holder {
    pthread_mutex_t lock; /* guards `now` until its users are counted */
    struct settings *now;
};

/* A snapshot with one user, the caller. Reads the token and TLS files. ST_ARGUMENT with a sentence. */
enum status settings_create(struct settings **settings, const struct config *config, struct error *err);

/* The last user's call frees it. NULL is allowed. */
void settings_drop(struct settings *settings);

/* Puts a snapshot in (NULL: none yet); the holder becomes its user in the caller's place. */
void settings_init(struct settings_holder *holder);
void settings_replace(struct settings_holder *holder, struct settings *settings);
void settings_finish(struct settings_holder *holder);

/* The current snapshot with one user more. Thread-safe. */
struct settings *settings_take(struct settings_holder *holder);

#endif
