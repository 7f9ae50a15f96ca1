/* SPDX-License-Identifier: MIT */
#include "server/settings.h"

#include <stdlib.h>

#include "server/evidence/report_keys.h"
#include "server/http/tls.h"

enum status settings_create(struct settings **settings, const struct config *config, struct error *err) {
    struct settings *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    atomic_init(&made->users, 1);
    made->config = *config;
    document_init(&made->document);
    enum status status = config->token_file[0] ? tokens_load(&made->tokens, config->token_file, err) : ST_OK;
    if (status == ST_OK && config->tls_cert[0]) {
        status = tls_load(&made->identity, config->tls_cert, config->tls_key, err);
    }
    if (status == ST_OK) {
        status = report_keys_load(&made->report_keys, config->report_key, config->report_trust, err);
    }
    if (status != ST_OK) {
        settings_drop(made);
        return status;
    }
    *settings = made;
    return ST_OK;
}

void settings_drop(struct settings *settings) {
    if (settings && atomic_fetch_sub(&settings->users, 1) == 1) {
        tokens_destroy(settings->tokens);
        tls_destroy(settings->identity);
        report_keys_destroy(settings->report_keys);
        document_finish(&settings->document);
        free(settings);
    }
}

void settings_init(struct settings_holder *holder) {
    *holder = (struct settings_holder){0};
    pthread_mutex_init(&holder->lock, NULL);
}

void settings_replace(struct settings_holder *holder, struct settings *settings) {
    pthread_mutex_lock(&holder->lock);
    struct settings *old = holder->now;
    holder->now = settings;
    pthread_mutex_unlock(&holder->lock);
    settings_drop(old);
}

void settings_finish(struct settings_holder *holder) {
    settings_replace(holder, NULL);
    pthread_mutex_destroy(&holder->lock);
}

struct settings *settings_take(struct settings_holder *holder) {
    pthread_mutex_lock(&holder->lock);
    struct settings *settings = settings_share(holder->now);
    pthread_mutex_unlock(&holder->lock);
    return settings;
}
