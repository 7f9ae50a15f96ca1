/* SPDX-License-Identifier: MIT
 * The parameters of a request: those of its filter or the steps of its pipeline, and the shared ones that say
 * how the picture is read, where the filters act and how the answer is made. Unknown, repeated and
 * out-of-range parameters are refused by name. */
#ifndef BLURD_SERVER_MESSAGE_PARAMETERS_H
#define BLURD_SERVER_MESSAGE_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

#include "codecs/codec.h"
#include "detect/detectors.h"
#include "filters/argument/fill.h"
#include "filters/argument/region_list.h"
#include "server/message/operations.h"
#include "server/message/thresholds.h"

enum {
    FORMAT_AUTO,
#define FORMAT(id, ...) FORMAT_##id,
#define READ_FORMAT(...)
#include "codecs/formats.def"
    FORMAT_JPG, /* is stored as FORMAT_JPEG */
};
enum { BACKEND_AUTO, BACKEND_CPU };
enum { COLORSPACE_NATIVE, COLORSPACE_RGB, COLORSPACE_LINEAR };
enum { HUFFMAN_OPTIMAL, HUFFMAN_STANDARD };
enum { METADATA_STRIP, METADATA_KEEP };
enum { HDR_AUTO, HDR_KEEP, HDR_DROP };
enum { MODE_PLAIN, MODE_REDACT };

enum { DETECT_ELLIPSE, DETECT_BOX };
enum { DETECT_EFFORT_NORMAL, DETECT_EFFORT_HIGH };
#define DETECT_MARGIN_USUAL 20.0 /* these are what the description of the interface has as defaults */
enum { DETECT_SIZE_FULL = -1 };
enum { DETECT_HOLD_USUAL = 5, DETECT_HOLD_MAX = 25 };

/* What of a search a request does. */
enum detection_stage {
    DETECT_ALL,   /* it searches, and acts on what is found */
    DETECT_FINDS, /* it only searches: a frame of a series, whose answer is `finds` */
    DETECT_HELD,  /* it does not search: the caller has added what was found to the regions */
};

struct finds; /* detect/held/finds.h */

/* The searches of detectors, whose places are regions. */
struct detection_arguments {
    uint32_t possible; /* a bit for each enum detector_id that can be used; the caller sets it after
                          parameters_init */
    uint32_t wanted;   /* and for each that searches; ask parameters_detect instead */
    int effort;        /* DETECT_EFFORT_…; of no meaning to detectors that do not try more */
    /* The members below hold only if parameters_given says so; otherwise the detector's own value is used
     * (detect/detector.h). */
    int shape;     /* DETECT_ELLIPSE or _BOX */
    int size;      /* longest side that is looked at, or DETECT_SIZE_FULL */
    int grid;      /* pixels that edges are multiples of */
    double margin; /* percent of the box's width and height, on each side */
    struct thresholds threshold;
    bool report; /* the answer has the boxes in a header */
    int hold;    /* frames before and behind in which finds are hidden, too; of no meaning to stills */
    /* The caller sets both after parameters_init. */
    enum detection_stage stage;
    struct finds **finds; /* with DETECT_FINDS: set to what was found, by malloc; the caller's */
};

/* Frames of an animation, from 0, both included. */
struct frame_range {
    uint32_t first, last;
};

/* How the picture is read and where the filters act; for every request. */
struct input_arguments {
    bool autorotate;
    int backend;                    /* BACKEND_AUTO or _CPU */
    int colorspace;                 /* COLORSPACE_… */
    struct region_set region;       /* none: everywhere, unless parameters_select */
    struct region_keep keep;        /* what searches find there is no region */
    struct region_keep except;      /* each names one find, which is left out */
    bool listed;                    /* the form has a list of regions, perhaps an empty one */
    struct region_list_about about; /* the picture of the list */
    struct bytes mask;              /* the form's PNG; no data: none */
    bool invert;
    double feather;   /* pixels; 0: hard edges */
    int mode;         /* MODE_… */
    struct fill fill; /* of redacted regions */
    bool series;      /* is a frame of a series; the caller sets it */
    bool require;     /* as given; ask parameters_require instead */
    int page;         /* if it is given: of a TIFF, or the only frame of an animation that is taken */
    struct frame_range frames; /* of an animation, that are answered; valid if it is given */
};

/* How the picture of the answer is made. */
struct output_arguments {
    int format;      /* FORMAT_… */
    int quality;     /* JPEG, WebP, AVIF: 1 to 100 */
    int subsampling; /* JPEG, AVIF: enum subsampling */
    bool progressive;
    int huffman;   /* JPEG: HUFFMAN_… */
    bool lossless; /* WebP */
    int effort;    /* PNG, WebP, AVIF: 0 to 9 */
    int metadata;  /* METADATA_… */
    int hdr;       /* JPEG: HDR_… */
    bool png_reduce;
};

/* What a redaction is answered with in place of the picture, or beside it. */
struct evidence_arguments {
    bool plan;     /* the list of what would be hidden */
    bool report;   /* a signed statement about what was */
    bool possible; /* there is a key to sign with; the caller sets it after parameters_init */
};

struct parameters {
    const struct filter *filter; /* of the endpoint; NULL: the pipeline, which takes `ops` */
    struct operation_list ops;   /* one step for a filter's endpoint */
    struct input_arguments input;
    struct detection_arguments detect;
    struct output_arguments output; /* ignored where the answer is no picture */
    struct evidence_arguments evidence;
    uint64_t given; /* a bit for each parameter that was given */
};

/* Sets all defaults, in memory that may be unset. ops.most becomes what a chain holds; the caller may lower
 * it. */
void parameters_init(struct parameters *parameters, const struct filter *filter);

/* The tables of the shared parameters, by index; NULL past the last one. */
const struct argument *parameters_shared(unsigned index);

/* Whether the endpoint of the filter (NULL: the pipeline) takes the parameters of that table. */
bool parameters_share(const struct filter *filter, unsigned index);

/* Whether a parameter of that name exists here; whether it was given. */
bool parameters_know(const struct parameters *parameters, const char *name);
bool parameters_given(const struct parameters *parameters, const char *name);

/* A bit for each enum detector_id that searches the picture, for regions or as the answer. */
uint32_t parameters_detect(const struct parameters *parameters);

/* The same for those whose finds decide what a filter keeps, as `gravity=faces` says; and for both, without
 * what is no part of this stage. */
uint32_t parameters_follow(const struct parameters *parameters);
uint32_t parameters_search(const struct parameters *parameters);

/* What the request is answered with. */
enum filter_answer parameters_answer(const struct parameters *parameters);

/* Whether colours of nearly transparent pixels, in which searches find nothing, have to go with mode=redact.
 */
bool parameters_clear_transparent(const struct parameters *parameters);

/* Whether a mask limits the filter: regions, a mask, or a list or search that may give none. */
bool parameters_select(const struct parameters *parameters);

/* Whether the request fails when its regions and mask cover no pixel: as `require` says, and without it with
 * mode=redact, unless it only asks what would be hidden, or is a frame of a series, of which some show
 * nothing to hide. */
bool parameters_require(const struct parameters *parameters);

/* The name of the parameter that says where the filters act. */
const char *parameters_selector(const struct parameters *parameters);

/* The side of tiles in redacted regions, or 0: the first filter decides how they look. */
uint32_t parameters_look(const struct parameters *parameters);

/* The codec of a FORMAT_… other than FORMAT_AUTO. */
enum codec_id parameters_codec(int format);

/* Sets one parameter. ST_ARGUMENT names it and what is allowed. */
enum status parameters_set(struct parameters *parameters, const char *name, const char *value,
                           struct error *err);

/* Sets all parameters of a query string (NULL is allowed). */
enum status parameters_parse(struct parameters *parameters, const char *query, struct error *err);

/* Checks that the parameters, once all are set, are complete and go together. ST_ARGUMENT names one that is
 * missing or does not fit. */
enum status parameters_check(const struct parameters *parameters, struct error *err);

#endif
