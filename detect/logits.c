/* SPDX-License-Identifier: MIT */
#include "detect/logits.h"

#include <math.h>

#include "detect/network.h"

int32_t logits_byte(double threshold) {
    if (!(threshold > 0)) {
        return 1;
    }
    const double byte =
        threshold < 1 ? ceil(NETWORK_LINEAR_ZERO + LOGITS_STEPS * log(threshold / (1 - threshold))) : 256;
    return byte > 255 ? INT32_MAX : byte < 1 ? 1 : (int32_t)byte;
}

double logits_probability(int32_t byte) {
    return 1 / (1 + exp((double)(NETWORK_LINEAR_ZERO - byte) / LOGITS_STEPS));
}
