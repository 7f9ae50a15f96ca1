/* SPDX-License-Identifier: MIT */
#include "detect/detectors.h"

#define DETECTOR(ID, name, header) extern const struct detector detector_##name;
#include "detect/detectors.def"
#undef DETECTOR

const struct detector *detector_get(enum detector_id id) {
    static const struct detector *const detectors[DETECTORS] = {
#define DETECTOR(ID, name, header) [DETECTOR_##ID] = &detector_##name,
#include "detect/detectors.def"
#undef DETECTOR
    };
    return detectors[id];
}
