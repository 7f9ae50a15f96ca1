/* SPDX-License-Identifier: MIT
 * Opens the model that finds faces, as the option face_model says. */
#ifndef BLURD_SERVER_PROCESS_FACE_FILE_H
#define BLURD_SERVER_PROCESS_FACE_FILE_H

#include "detect/faces/faces.h"

/* Writes the path that the option means, "" for none, and returns it. */
const char *face_file_path(const char *option, char path[MODEL_PATH_MAX]);

/* To be called before the sandbox; the file is read at the first search. *model stays NULL when the option is
 * "none", or empty and no model came with the program. ST_ARGUMENT when the file is missing or is
 * not a model, ST_BUSY without memory. */
enum status face_file_open(const char *option, struct model **model, struct error *err);

/* NULL is allowed. */
void face_file_close(struct model *model);

#endif
