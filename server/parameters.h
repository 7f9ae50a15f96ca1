/* SPDX-License-Identifier: MIT
 * The parameters of a request: the filter's own, and those of the answer, which every
 * filter shares. Unknown, repeated and out-of-range ones are refused by name. */
#ifndef BLURD_SERVER_PARAMETERS_H
#define BLURD_SERVER_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

#include "codecs/codec.h"
#include "filters/filter.h"

enum { FORMAT_AUTO, FORMAT_JPEG, FORMAT_PNG };
enum { COLORSPACE_NATIVE, COLORSPACE_RGB };
enum { METADATA_STRIP, METADATA_KEEP };

/* How the answer is made; filled through the table in parameters.c. */
struct output_arguments {
    int format;      /* FORMAT_… */
    int quality;     /* JPEG, 1 to 100 */
    int subsampling; /* enum subsampling */
    bool progressive;
    int effort;   /* PNG, 0 to 9 */
    int metadata; /* METADATA_… */
    bool autorotate;
    int colorspace; /* COLORSPACE_… */
};

struct parameters {
    const struct filter *filter;
    union filter_arguments arguments; /* of the filter */
    struct output_arguments output;
    uint64_t given; /* bit per row of both tables: which were given */
};

/* Everything at its default. */
void parameters_init(struct parameters *parameters, const struct filter *filter);

/* Takes one parameter. ST_ARGUMENT names it and what is allowed. */
enum status parameters_set(struct parameters *parameters, const char *name, const char *value,
                           struct error *err);

/* Takes a whole query string (NULL is allowed). */
enum status parameters_parse(struct parameters *parameters, const char *query, struct error *err);

/* The table of the answer's parameters, ended by a NULL name. */
extern const struct argument output_arguments[];

#endif
