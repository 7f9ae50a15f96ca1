/* SPDX-License-Identifier: MIT
 * What the program knows of a detector. Each row of detect/detectors.def has a constant `detector_NAME`,
 * which stands in the detector's folder. Backends search a picture, with its network or as it says, and write
 * the cells with a score as candidates; the detector makes boxes of them. It keeps no state. */
#ifndef BLURD_DETECT_DETECTOR_H
#define BLURD_DETECT_DETECTOR_H

#include <stdbool.h>

#include "core/status.h"
#include "detect/boxes.h"
#include "detect/candidates.h"
#include "detect/network.h"

struct cpu_search;    /* cpu/search.h */
struct model_weights; /* detect/model.h */

enum { DETECTOR_MAGIC = 8 /* bytes */ };

/* What detect_effort=high searches beside the usual picture: nothing, it in half and twice the size, its
 * mirror image, too. */
enum detector_tries { DETECTOR_TRIES_NOTHING, DETECTOR_TRIES_SIZES, DETECTOR_TRIES_ALL };

struct detector {
    const char *name;                /* value of `detect`, and of what it finds in answers and the log */
    const char *thing;               /* what it finds, in sentences */
    const char *const *classes;      /* names of the classes of its boxes; NULL ends them */
    unsigned landmarks;              /* of a box */
    const struct cpu_search *search; /* finds candidates on cores (cpu/search.h) */
    int unit;                        /* sides of the picture that is searched are multiples of it */
    /* Pixels around the picture that are searched, too. They, and the pixels up to the next multiple of
     * `unit`, are its mirror image. 0: black pixels on the right and below fill it up to the multiple. */
    int border;
    int cell; /* pixels on each side of a candidate's cell: network_cell(), if there is a network */
    /* What holds where the client says nothing else: least score; percent of its sides by which a box grows
     * to hide it; longest side of the picture that is searched, 0: any. */
    double threshold, margin;
    int longest;
    /* A copy whose longest side is at least so long is searched in half of its sides, too, as is that one,
     * and so on, for what is large. 0: nothing is searched twice. */
    int halved_from;
    bool round; /* an ellipse in the box hides what it is about */
    enum detector_tries tries;
    /* Pixels: the edges of boxes that mode=redact hides are multiples of it, so that they do not tell what is
     * within. 1: any. */
    int grid;
    float pixel_ns;     /* of a search, for each pixel of the picture that is searched, on one core */
    float gpu_pixel_ns; /* and on a GPU beside others; 0: GPUs do not search with it, and requests for it go
                           to cores */
    float shared_ns, gpu_shared_ns; /* the part of both that detectors of one network do once */
    /* Finds the boxes; sorts `candidates`, which no other process may change meanwhile. Does not allocate.
     * ST_LIMIT when there are more candidates than CANDIDATES_MAX or more boxes than BOXES_MAX: callers must
     * not hide only some of them. */
    enum status (*find)(const struct model_weights *weights, struct candidates *candidates,
                        const struct boxes_frame *frame, struct boxes *boxes, struct error *err);
    bool reads;       /* with the library `file`, in a process of its own (codecs/process/codec_process.h) */
    const char *file; /* name of the model or library that comes with the program; NULL: none */
    /* NULL: none; then the members below are not used, and `weights` above is NULL. */
    const struct network *network;
    unsigned output; /* index of the network's output that it reads. Detectors with the same network have the
                        same model, and search in one pass; the members above say what is alike then */
    const char *option; /* of the command line, without dashes: path of the model; docs/NAME.md tells more */
    const char *magic;  /* a model file begins with it */
    /* The smallest first sum of a cell of the network, or byte of its map, whose score reaches the
     * threshold; INT32_MAX when none is. */
    int32_t (*least)(const struct model_weights *weights, double threshold);
    /* Of a network that makes a map: the least byte of a pixel that belongs to a component
     * (detect/components.h), at least 1. 0: GPUs write the map itself, as tests want it. */
    int pixel_least;
};

extern const struct cpu_search cpu_search_network; /* runs any network */

#endif
