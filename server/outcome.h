/* SPDX-License-Identifier: MIT
 * What became of a request. */
#ifndef BLURD_SERVER_OUTCOME_H
#define BLURD_SERVER_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "detect/detectors.h"
#include "server/metrics.h"
#include "server/problem.h"

enum { OUTCOME_REPORT_MAX = 4096, OUTCOME_BOUNDARY_MAX = 64 };

/* What became of the gain map that makes a picture HDR. */
enum outcome_hdr { HDR_NONE, HDR_DROPPED, HDR_KEPT };

typedef char outcome_report[OUTCOME_REPORT_MAX];

/* The picture's properties and the time of each stage, for headers, log and metrics. */
struct outcome {
    enum problem problem;
    enum metric_format format;
    unsigned backend; /* number in the metrics; 0: none ran */
    char backend_name[32];
    char notice[300];                    /* warnings about the regions; empty: none */
    bool kept_blocks;                    /* a JPEG's blocks outside of the regions were copied */
    char boundary[OUTCOME_BOUNDARY_MAX]; /* of an answer in parts; empty: it is in one */
    bool in_json;                        /* the picture is in a JSON text, in base64 */
    unsigned losses; /* bits of codecs/metadata/losses.h: metadata that are lost without being asked to */
    enum outcome_hdr hdr;
    uint32_t width, height;
    uint64_t frames;              /* of a series, that were answered */
    bool counted;                 /* the answer says how many regions there were */
    uint32_t regions;             /* that many */
    uint32_t searched;            /* a bit for each detector that did */
    uint32_t found[DETECTORS];    /* boxes */
    uint32_t excepted[DETECTORS]; /* boxes that the request leaves out; not among those found */
    outcome_report
        *report; /* of each detector the boxes, "": none; owned; NULL: not asked for, or no memory */
    int64_t stage_ns[STAGE_COUNT];
    int64_t computed_ns; /* processor time of the worker, its helpers and the process of its codec */
    int64_t idle_ns;     /* of a request out of time: how long no processor or GPU computed for it */
    bool animated;       /* the answer is an animation, whose time says nothing about still pictures */
    bool stages;         /* the request got as far as a worker */
    enum way way;        /* that was taken; used with `stages` */
};

#endif
