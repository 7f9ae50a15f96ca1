/* SPDX-License-Identifier: MIT */
#include "server/process/face_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"

const char *face_file_path(const char *option, char path[FACE_MODEL_PATH_MAX]) {
    if (option[0]) {
        snprintf(path, FACE_MODEL_PATH_MAX, "%s", strcmp(option, "none") == 0 ? "" : option);
    } else {
        face_model_default(path);
    }
    return path;
}

enum status face_file_open(const char *option, struct face_model **model, struct error *err) {
    char path[FACE_MODEL_PATH_MAX];
    face_file_path(option, path);
    if (!path[0]) {
        log_message(LOG_DEBUG, "faces", "there is no model: faces cannot be found");
        return ST_OK;
    }
    struct face_model *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    enum status status = face_model_open(made, path, err);
    if (status != ST_OK) {
        free(made);
        return status;
    }
    *model = made;
    return ST_OK;
}

void face_file_close(struct face_model *model) {
    if (model) {
        face_model_close(model);
        free(model);
    }
}
