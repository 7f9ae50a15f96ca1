/* SPDX-License-Identifier: MIT */
#include "server/pages/formats.h"

#include <stdio.h>

#include "core/version.h"
#include "detect/model.h"
#include "gpu/front/versions.h"

void formats_text(char text[static FORMATS_TEXT_MAX]) {
    char reads[CODEC_TITLES_MAX], writes[CODEC_TITLES_MAX];
    snprintf(text, FORMATS_TEXT_MAX, "reads %s; writes %s", codec_titles(codec_decodes, "and", reads),
             codec_titles(codec_encodes, "and", writes));
}

static size_t append_names(char *text, size_t used, bool (*has)(enum codec_id id)) {
    const char *comma = "";
    for (unsigned i = 0; i < CODEC_COUNT; i++) {
        if (has((enum codec_id)i)) {
            used += (size_t)snprintf(text + used, FORMATS_JSON_MAX - used, "%s\"%s\"", comma,
                                     codec_get((enum codec_id)i)->name);
            comma = ",";
        }
    }
    return used;
}

void formats_json(char text[static FORMATS_JSON_MAX]) {
    size_t used = (size_t)snprintf(text, FORMATS_JSON_MAX, "{\"reads\":[");
    used = append_names(text, used, codec_decodes);
    used += (size_t)snprintf(text + used, FORMATS_JSON_MAX - used, "],\"writes\":[");
    used = append_names(text, used, codec_encodes);
    snprintf(text + used, FORMATS_JSON_MAX - used, "]}");
}

void formats_version(char text[static FORMATS_VERSION_MAX]) {
    char support[GPU_SUPPORT_MAX], formats[FORMATS_TEXT_MAX], model[FACE_MODEL_PATH_MAX];
    gpu_versions_support(support);
    formats_text(formats);
    face_model_default(model);
    snprintf(text, FORMATS_VERSION_MAX, "blurd %s (%s)\n%s\nface model: %s", BLURD_VERSION, support, formats,
             model[0] ? model : "none");
}
