/* SPDX-License-Identifier: MIT */
#include "server/process/face_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"

const char *face_file_path(const char *option, char path[MODEL_PATH_MAX]) {
    if (option[0]) {
        snprintf(path, MODEL_PATH_MAX, "%s", strcmp(option, "none") == 0 ? "" : option);
    } else {
        model_default(&detector_faces, path);
    }
    return path;
}

enum status face_file_open(const char *option, struct model **model, struct error *err) {
    char path[MODEL_PATH_MAX];
    face_file_path(option, path);
    if (!path[0]) {
        log_message(LOG_DEBUG, "faces", "there is no model: faces cannot be found");
        return ST_OK;
    }
    struct model *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    enum status status = model_open(made, &detector_faces, path, err);
    if (status != ST_OK) {
        free(made);
        return status;
    }
    *model = made;
    return ST_OK;
}

void face_file_close(struct model *model) {
    if (model) {
        model_close(model);
        free(model);
    }
}
