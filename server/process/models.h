/* SPDX-License-Identifier: MIT
 * Opens the models of the detectors, as their options say. */
#ifndef BLURD_SERVER_PROCESS_MODELS_H
#define BLURD_SERVER_PROCESS_MODELS_H

#include "config/config.h"
#include "detect/model.h"

/* The paths that the options mean: "" for `none`, for an empty option when no model came with the program,
 * and for a detector without a network, or whose model is kept under another number (detector_model). */
struct model_paths models_paths(const struct config *config);

/* The path of the library of a detector that reads, or "" when none came with the program, or when there are
 * no processes for it. */
void models_library(const struct config *config, const struct detector *detector, char path[MODEL_PATH_MAX]);

/* To be called before the sandbox; each file is read at the first search. A member of model[] stays NULL when
 * there is no path. Detectors with the same network have the same model. Sets the bit of each detector that
 * can be used. ST_ARGUMENT when a file is missing or is not a model, ST_BUSY without memory. */
enum status models_open(const struct config *config, struct model *model[DETECTORS], uint32_t *detectors,
                        struct error *err);

/* Members may be NULL. */
void models_close(struct model *model[DETECTORS]);

#endif
