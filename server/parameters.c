/* SPDX-License-Identifier: MIT */
#include "server/parameters.h"

#include <stdio.h>
#include <string.h>

#include "server/query.h"

static const char *const formats[] = {"auto", "jpeg", "png", NULL};
static const char *const subsamplings[] = {"auto", "420", "422", "444", NULL};
static const char *const metadata_choices[] = {"strip", "keep", NULL};
static const char *const colorspaces[] = {"native", "rgb", NULL};

#define AT(member) offsetof(struct output_arguments, member)
const struct argument output_arguments[] = {
    {.name = "autorotate",
     .type = ARGUMENT_SWITCH,
     .offset = AT(autorotate),
     .initial = 1,
     .help = "Turn the picture upright as its EXIF orientation says."},
    {.name = "colorspace",
     .type = ARGUMENT_CHOICE,
     .offset = AT(colorspace),
     .choices = colorspaces,
     .help = "`native` filters the planes as the codec stores them, `rgb` filters RGB."},
    {.name = "effort",
     .type = ARGUMENT_WHOLE,
     .offset = AT(effort),
     .minimum = 0,
     .maximum = 9,
     .initial = 1,
     .help = "PNG compression, 0 fastest to 9 smallest."},
    {.name = "format",
     .type = ARGUMENT_CHOICE,
     .offset = AT(format),
     .choices = formats,
     .help = "Format of the answer; `auto` takes what `Accept` prefers, else the input's."},
    {.name = "metadata",
     .type = ARGUMENT_CHOICE,
     .offset = AT(metadata),
     .choices = metadata_choices,
     .help = "`strip` keeps the colour profile only; `keep` also EXIF (without thumbnail), XMP and text."},
    {.name = "progressive",
     .type = ARGUMENT_SWITCH,
     .offset = AT(progressive),
     .help = "Write a progressive JPEG."},
    {.name = "quality",
     .type = ARGUMENT_WHOLE,
     .offset = AT(quality),
     .minimum = 1,
     .maximum = 100,
     .initial = 85,
     .help = "JPEG quality."},
    {.name = "subsampling",
     .type = ARGUMENT_CHOICE,
     .offset = AT(subsampling),
     .choices = subsamplings,
     .help = "JPEG chroma subsampling; `auto` is the input's, 4:2:0 when the input has none."},
    {0},
};
#undef AT

void parameters_init(struct parameters *parameters, const struct filter *filter) {
    *parameters = (struct parameters){.filter = filter};
    arguments_default(filter->arguments, &parameters->arguments);
    arguments_default(output_arguments, &parameters->output);
}

/* Appends the names of a table's rows, separated by commas. */
static size_t list_names(const struct argument *table, char *text, size_t size, size_t used) {
    for (const struct argument *row = table; row->name && used < size; row++) {
        int length = snprintf(text + used, size - used, "%s%s", used ? ", " : "", row->name);
        used += length > 0 ? (size_t)length : 0;
    }
    return used;
}

static enum status unknown(const struct parameters *parameters, const char *name, struct error *err) {
    char names[ERROR_TEXT_MAX];
    size_t used = list_names(parameters->filter->arguments, names, sizeof names, 0);
    list_names(output_arguments, names, sizeof names, used);
    return fail_argument(err, name, "unknown parameter; %s takes %s", parameters->filter->name, names);
}

enum status parameters_set(struct parameters *parameters, const char *name, const char *value,
                           struct error *err) {
    const struct argument *row = argument_find(parameters->filter->arguments, name);
    void *target = &parameters->arguments;
    uint64_t bit = 0;
    if (row) {
        bit = UINT64_C(1) << (row - parameters->filter->arguments);
    } else {
        row = argument_find(output_arguments, name);
        target = &parameters->output;
        bit = row ? UINT64_C(1) << (32 + (row - output_arguments)) : 0;
    }
    if (!row) {
        return unknown(parameters, name, err);
    }
    if (parameters->given & bit) {
        return fail_argument(err, name, "%s is given more than once", name);
    }
    parameters->given |= bit;
    return argument_parse(row, value, target, err);
}

enum status parameters_parse(struct parameters *parameters, const char *query, struct error *err) {
    struct query_pair pair;
    *err = (struct error){0};
    while (query && query_next(&query, &pair, err)) {
        enum status status = parameters_set(parameters, pair.name, pair.value, err);
        if (status != ST_OK) {
            return status;
        }
    }
    return err->status;
}
