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
