/* SPDX-License-Identifier: MIT
 * JPEGs for the self-test of GPUs, made by the codecs and filters of the CPU. */
#ifndef BLURD_SERVER_PROCESS_TRANSCODE_SAMPLE_H
#define BLURD_SERVER_PROCESS_TRANSCODE_SAMPLE_H

#include "gpu/gpu.h"

/* A gpu_sample_maker: makes sample `number`, from 0. ST_NOTHING after the last one. */
enum status transcode_sample(unsigned number, struct lane *reference, struct slot *slot,
                             struct gpu_sample *sample, struct error *err);

#endif
