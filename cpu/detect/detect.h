/* SPDX-License-Identifier: MIT
 * The search for faces on the CPU. Layers are run in passes (cpu/detect/detect_tensors.h), each cut into
 * bands of rows. Working memory: 3 bytes for each pixel of the padded picture, for the tensors, and up to
 * 0.8 megabytes for each thread. */
#ifndef BLURD_CPU_DETECT_DETECT_H
#define BLURD_CPU_DETECT_DETECT_H

#include "cpu/cpu_context.h"
#include "cpu/detect/detect_pack.h"
#include "filters/detect.h"

/* Writes a struct face_candidates to the first row of the target, in order; what is not counted is 0, and so
 * are all if there are too many. `least` is the heat of a candidate. As the filters of
 * cpu/filters/filters.h. */
enum status cpu_detect(const struct cpu_context *context, const struct detect_network *network, int32_t least,
                       const struct image *source, const struct image *target, struct error *err);
struct scratch_need cpu_detect_need(const struct image *source);

#endif
