/* SPDX-License-Identifier: MIT */
#include "server/pages/formats.h"

#include <stdio.h>

#include "core/version.h"
#include "gpu/front/versions.h"

void formats_text(char text[static FORMATS_TEXT_MAX]) {
    char reads[CODEC_TITLES_MAX], writes[CODEC_TITLES_MAX];
    snprintf(text, FORMATS_TEXT_MAX, "reads %s; writes %s", codec_titles(codec_decodes, "and", reads),
             codec_titles(codec_encodes, "and", writes));
}

void formats_names(bool (*has)(enum codec_id id), char text[static FORMATS_NAMES_MAX]) {
    size_t used = (size_t)snprintf(text, FORMATS_NAMES_MAX, "[");
    for (unsigned i = 0; i < CODEC_COUNT; i++) {
        if (has((enum codec_id)i)) {
            used += (size_t)snprintf(text + used, FORMATS_NAMES_MAX - used, "%s\"%s\"", used > 1 ? "," : "",
                                     codec_get((enum codec_id)i)->name);
        }
    }
    snprintf(text + used, FORMATS_NAMES_MAX - used, "]");
}

void formats_json(char text[static FORMATS_JSON_MAX]) {
    char reads[FORMATS_NAMES_MAX], writes[FORMATS_NAMES_MAX];
    formats_names(codec_decodes, reads);
    formats_names(codec_encodes, writes);
    snprintf(text, FORMATS_JSON_MAX, "{\"reads\":%s,\"writes\":%s}", reads, writes);
}

void formats_detectors(uint32_t usable, char text[static FORMATS_DETECTORS_MAX]) {
    int used = 0;
    for (unsigned i = 0; i < DETECTORS; i++) {
        used += snprintf(text + used, FORMATS_DETECTORS_MAX - (size_t)used, "%s\"%s\":%s", i ? "," : "",
                         detector_get(i)->name, usable & UINT32_C(1) << i ? "true" : "false");
    }
}

void formats_version(char text[static FORMATS_VERSION_MAX]) {
    char support[GPU_SUPPORT_MAX], formats[FORMATS_TEXT_MAX];
    gpu_versions_support(support);
    formats_text(formats);
    int used = snprintf(text, FORMATS_VERSION_MAX, "blurd %s (%s)\n%s", BLURD_VERSION, support, formats);
    for (unsigned i = 0; i < DETECTORS; i++) {
        char model[MODEL_PATH_MAX];
        const struct detector *detector = detector_get(i);
        if (detector->network && detector_model(i) == i) {
            model_default(detector, model);
            used += snprintf(text + used, FORMATS_VERSION_MAX - (size_t)used, "\n%s model: %s",
                             detector->thing, model[0] ? model : "none");
        }
    }
    snprintf(text + used, FORMATS_VERSION_MAX - (size_t)used, "\n%s", BLURD_HOME_URL);
}
