/* SPDX-License-Identifier: MIT */
#include "server/process/models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"

struct model_paths models_paths(const struct config *config) {
    struct model_paths paths = {0};
    for (unsigned i = 0; i < DETECTORS; i++) {
        const struct detector *detector = detector_get(i);
        if (!detector->network || detector_model(i) != i) {
            continue;
        }
        const struct option *row = config_option(detector->option, strlen(detector->option));
        const char *value = (const char *)config + row->offset;
        if (!value[0]) {
            model_default(detector, paths.of[i]);
        } else if (strcmp(value, "none") != 0) {
            snprintf(paths.of[i], MODEL_PATH_MAX, "%s", value);
        }
    }
    return paths;
}

static enum status open_model(const struct detector *detector, const char *path, struct model **model,
                              struct error *err) {
    if (!path[0]) {
        log_message(LOG_DEBUG, detector->name, "there is no model: %s cannot be found", detector->name);
        return ST_OK;
    }
    struct model *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    enum status status = model_open(made, detector, path, err);
    if (status != ST_OK) {
        free(made);
        return status;
    }
    *model = made;
    return ST_OK;
}

void models_library(const struct config *config, const struct detector *detector, char path[MODEL_PATH_MAX]) {
    path[0] = '\0';
    if (detector->reads && !config->single_process) {
        model_default(detector, path);
    }
}

/* Whether a detector has what it needs. */
static bool is_usable(const struct config *config, const struct detector *detector,
                      const struct model *model) {
    char library[MODEL_PATH_MAX];
    models_library(config, detector, library);
    return (model || !detector->network) && (library[0] || !detector->reads);
}

enum status models_open(const struct config *config, struct model *model[DETECTORS], uint32_t *detectors,
                        struct error *err) {
    const struct model_paths paths = models_paths(config);
    enum status status = ST_OK;
    for (unsigned i = 0; i < DETECTORS && status == ST_OK; i++) {
        const struct detector *detector = detector_get(i);
        if (detector->network && detector_model(i) == i) {
            status = open_model(detector, paths.of[i], &model[i], err);
        }
        model[i] = model[detector_model(i)];
        *detectors |= is_usable(config, detector, model[i]) ? UINT32_C(1) << i : 0;
    }
    return status;
}

void models_close(struct model *model[DETECTORS]) {
    for (unsigned i = 0; i < DETECTORS; i++) {
        if (model[i] && detector_model(i) == i) {
            model_close(model[i]);
            free(model[i]);
        }
    }
}
