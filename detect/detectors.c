/* SPDX-License-Identifier: MIT */
#include "detect/detectors.h"

#define DETECTOR(ID, name, thing, Title) extern const struct detector detector_##name;
#include "detect/detectors.def"
#undef DETECTOR

const char *const detector_choices[DETECTORS + 2] = {
    "none",
#define DETECTOR(ID, name, thing, Title) #name,
#include "detect/detectors.def"
#undef DETECTOR
};

const struct detector *detector_get(enum detector_id id) {
    static const struct detector *const detectors[DETECTORS] = {
#define DETECTOR(ID, name, thing, Title) [DETECTOR_##ID] = &detector_##name,
#include "detect/detectors.def"
#undef DETECTOR
    };
    return detectors[id];
}

uint32_t detectors_beside(enum detector_id id) {
    const struct network *network = detector_get(id)->network;
    uint32_t set = UINT32_C(1) << id;
    for (unsigned i = 0; i < DETECTORS && network; i++) {
        set |= detector_get((enum detector_id)i)->network == network ? UINT32_C(1) << i : 0;
    }
    return set;
}

uint32_t detector_outputs(const struct detector *detector) {
    const struct network *network = detector->network;
    return network->anchors[0] > 0 ? (UINT32_C(1) << network->outputs) - 1 : UINT32_C(1) << detector->output;
}

enum detector_id detectors_first(uint32_t set) {
    return (enum detector_id)__builtin_ctz(set);
}

enum detector_id detector_model(enum detector_id id) {
    return detectors_first(detectors_beside(id));
}
