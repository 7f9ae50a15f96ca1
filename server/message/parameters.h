/* SPDX-License-Identifier: MIT
 * The parameters of a request: the filter's own, or the steps of a pipeline, and those that all share: how
 * the picture is taken, where the filters act, how the answer is made. Unknown, repeated and out-of-range
 * ones are refused by name. */
#ifndef BLURD_SERVER_MESSAGE_PARAMETERS_H
#define BLURD_SERVER_MESSAGE_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

#include "codecs/codec.h"
#include "filters/region.h"
#include "server/message/operations.h"

enum { FORMAT_AUTO, FORMAT_JPEG, FORMAT_PNG, FORMAT_JPG /* is stored as FORMAT_JPEG */ };
enum { BACKEND_AUTO, BACKEND_CPU };
enum { COLORSPACE_NATIVE, COLORSPACE_RGB, COLORSPACE_LINEAR };
enum { METADATA_STRIP, METADATA_KEEP };
enum { MODE_PLAIN, MODE_REDACT };

/* How the picture is taken and where the filters act on it; for every request. */
struct input_arguments {
    bool autorotate;
    int backend;              /* BACKEND_AUTO or _CPU */
    int colorspace;           /* COLORSPACE_… */
    struct region_set region; /* none: everywhere */
    bool invert;
    double feather; /* pixels; 0: hard edges */
    int mode;       /* MODE_… */
};

/* How the picture of the answer is made. */
struct output_arguments {
    int format;      /* FORMAT_… */
    int quality;     /* JPEG, 1 to 100 */
    int subsampling; /* enum subsampling */
    bool progressive;
    int effort;   /* PNG, 0 to 9 */
    int metadata; /* METADATA_… */
};

struct parameters {
    const struct filter *filter; /* whose endpoint this is; NULL: the pipeline, which takes `ops` */
    struct operation_list ops;   /* what to do */
    struct input_arguments input;
    struct output_arguments output; /* not taken by stats, which answer no picture */
    uint64_t given;                 /* bit per parameter that may be given */
};

/* Everything at its default, with as many steps as a chain holds: ops.most may then be lowered. */
void parameters_init(struct parameters *parameters, const struct filter *filter);

/* The tables of the parameters that no filter has of its own, one by one; NULL behind the last. And whether
 * the endpoint of that filter (NULL: the pipeline) takes those of one of them. */
const struct argument *parameters_shared(unsigned index);
bool parameters_share(const struct filter *filter, unsigned index);

/* Whether the parameter of that name exists here; and whether it was given. */
bool parameters_know(const struct parameters *parameters, const char *name);
bool parameters_given(const struct parameters *parameters, const char *name);

/* Takes one parameter. ST_ARGUMENT names it and what is allowed. */
enum status parameters_set(struct parameters *parameters, const char *name, const char *value,
                           struct error *err);

/* Takes a whole query string (NULL is allowed). */
enum status parameters_parse(struct parameters *parameters, const char *query, struct error *err);

/* Once all were taken: whether they go together. ST_ARGUMENT names one that does not, or that is missing. */
enum status parameters_check(const struct parameters *parameters, struct error *err);

#endif
