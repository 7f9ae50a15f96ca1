/* SPDX-License-Identifier: MIT */
#include "server/evidence/model_digests.h"

void model_digests_init(struct model_digests *digests) {
    *digests = (struct model_digests){0};
    pthread_mutex_init(&digests->lock, NULL);
}

void model_digests_finish(struct model_digests *digests) {
    pthread_mutex_destroy(&digests->lock);
}

enum status model_digests_get(struct model_digests *digests, enum detector_id detector,
                              const struct model *model, struct digest *digest, struct error *err) {
    const struct bytes file = {model->memory, model_size(detector_get(detector)->network)};
    const enum detector_id key = detector_model(detector);
    enum status status = ST_OK;
    pthread_mutex_lock(&digests->lock);
    if (!digests->made[key]) {
        status = digest_of(file, &digests->digest[key], err);
        digests->made[key] = status == ST_OK;
    }
    *digest = digests->digest[key];
    pthread_mutex_unlock(&digests->lock);
    return status;
}
