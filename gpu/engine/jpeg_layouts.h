/* SPDX-License-Identifier: MIT
 * The layouts of the pictures of a job from JPEG to JPEG, without memory. Internal to gpu/engine/. */
#ifndef BLURD_GPU_ENGINE_JPEG_LAYOUTS_H
#define BLURD_GPU_ENGINE_JPEG_LAYOUTS_H

#include "filters/backend.h"

/* Sizes are in bytes. */
struct jpeg_layouts {
    struct image stored, source, target; /* what the chain reads, as stored and upright; filtered */
    struct image decoded, encoded;       /* the planes of the file, and those of the result */
    struct image mask;
    size_t turned_size;   /* of `stored` if it is turned; as in struct gpu_chain */
    size_t planes_size;   /* of the larger of `decoded` and `encoded`; 0: the chain reads and writes them */
    size_t target_size;   /* of `target` */
    struct chain_run run; /* of the chain; its mask is one of `mask` */
};

/* Fills in all layouts for a job that engine_check_jpeg has accepted. *layouts must not be moved afterwards,
 * since layouts->run points into it. */
void jpeg_layouts_make(struct jpeg_layouts *layouts, const struct transcode *job);

#endif
