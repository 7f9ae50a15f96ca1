/* SPDX-License-Identifier: MIT
 * SHA-256 of the model files in use, each computed once, when the first report needs it. */
#ifndef BLURD_SERVER_EVIDENCE_MODEL_DIGESTS_H
#define BLURD_SERVER_EVIDENCE_MODEL_DIGESTS_H

#include <pthread.h>
#include <stdbool.h>

#include "detect/model.h"
#include "server/evidence/digest.h"

struct model_digests {
    pthread_mutex_t lock;
    bool made[DETECTORS];
    struct digest digest[DETECTORS];
};

void model_digests_init(struct model_digests *digests);
void model_digests_finish(struct model_digests *digests);

/* Of the model of a detector with a network, which was read. Thread-safe. Fails like digest_of. */
enum status model_digests_get(struct model_digests *digests, enum detector_id detector,
                              const struct model *model, struct digest *digest, struct error *err);

#endif
