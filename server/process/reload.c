/* SPDX-License-Identifier: MIT */
#include "server/process/reload.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/log.h"
#include "server/http/http.h"
#include "server/process/bind_warning.h"
#include "server/service.h"

/* Restores the options that need a restart, and logs each one. */
static void keep_fixed(struct config *config, const struct config *start) {
    size_t count;
    const struct option *rows = config_options(&count);
    for (size_t i = 0; i < count; i++) {
        char now[OPTION_VALUE_MAX], wanted[OPTION_VALUE_MAX];
        struct error unused = {0};
        option_format(&rows[i], start, now);
        option_format(&rows[i], config, wanted);
        if (!rows[i].reloads && strcmp(now, wanted) != 0) {
            log_message(LOG_WARNING, "reload", "%s stays %s until a restart; the new value is %s",
                        rows[i].name, now, wanted);
            option_parse(&rows[i], now, config, &unused); /* reads what option_format wrote */
        }
    }
}

static enum status load(struct settings **settings, const struct config *start, const struct command *command,
                        struct error *err) {
    struct config config;
    enum config_action action;
    enum status status = config_load(&config, &action, command->argc, command->argv, environ, err);
    if (status == ST_OK) {
        keep_fixed(&config, start);
        status = config_check(&config, err); /* restored options may contradict new ones */
    }
    return status == ST_OK ? settings_create(settings, &config, err) : status;
}

void reload(struct service *service, struct http *const https[2], const struct command *command) {
    struct settings *settings;
    struct error err = {0};
    if (load(&settings, service->config, command, &err) != ST_OK) {
        metrics_add(service->metrics, METRIC_RELOAD_FAILURES, 1);
        log_message(LOG_ERROR, "reload", "nothing is changed: %s", err.text);
        return;
    }
    log_set_level((enum log_level)(settings->config.log_level - CHOICE_log_level_error));
    for (unsigned i = 0; i < 2; i++) {
        if (https[i]) {
            http_configure(https[i], &settings->config);
        }
    }
    bind_warning(service, &settings->config);
    settings_replace(&service->settings, settings);
    metrics_add(service->metrics, METRIC_RELOADS, 1);
    log_message(LOG_INFO, "reload", "configuration reloaded");
}
