/* SPDX-License-Identifier: MIT */
#include "server/process/spawners.h"

#include "codecs/codec.h"
#include "codecs/process/codec_spawner.h"
#include "core/log.h"
#include "core/numbers.h"
#include "detect/codes/codes.h"
#include "detect/codes/reader/codes_read.h"
#include "gpu/gpu.h"
#include "server/process/models.h"
#include "server/service.h"
#include "server/tracing/exporter.h"

enum { KEPT_MOST = 128 << 20, KEPT_SHARE = 16 };

/* What each codec's process may hold between calls: all together, a small part of the memory of requests. */
static size_t kept_by_codecs(const struct service *service) {
    const unsigned workers = service->config->workers ? service->config->workers : service->cores;
    return min_size((size_t)service->memory / KEPT_SHARE / workers, KEPT_MOST);
}

void spawners_fork(struct service *service, char *const *arguments) {
    const struct config *config = service->config;
    bool must = config->sandbox == CHOICE_sandbox_on;
    struct error why = {0};
    if (exporter_start(&service->exporter, config->otlp_endpoint, &why) != ST_OK) {
        log_message(LOG_WARNING, "spans", "%s", why.text);
    }
    if (config->single_process) {
        return;
    }
    if (service->gpu && gpu_spawner_fork(&service->spawner, arguments, !must, &why) != ST_OK) {
        log_message(LOG_WARNING, "gpu", "%s", why.text);
    }
    static char library[MODEL_PATH_MAX];
    static const struct codec_reader reader = {
        .title = "codes", .path = library, .open = codes_read_open, .read = codes_read};
    models_library(config, &detector_codes, library);
    const struct codec_process_options options = {
        .codec = codec_get,
        .reader = library[0] ? &reader : NULL,
        .sandbox = {.wanted = config->sandbox != CHOICE_sandbox_off, .must = must},
        .kept = kept_by_codecs(service)};
    if (codec_spawner_fork(&service->codecs, &options, &why) != ST_OK) {
        log_message(LOG_WARNING, "codec", "%s", why.text);
    }
}

void spawners_end(struct service *service) {
    gpu_spawner_end(service->spawner);
    codec_spawner_end(service->codecs);
    exporter_end(service->exporter);
}
