/* SPDX-License-Identifier: MIT */
#include "server/message/parameters.h"

#include <stdio.h>
#include <string.h>

#include "server/message/query.h"

static const char *const formats[] = {"auto", "jpeg", "png", "webp", "avif", "jpg", NULL};
static const char *const subsamplings[] = {"auto", "420", "422", "444", NULL};
static const char *const metadata_choices[] = {"strip", "keep", NULL};
static const char *const backends[] = {"auto", "cpu", NULL};
static const char *const colorspaces[] = {"native", "rgb", "linear", NULL};
static const char *const modes[] = {"plain", "redact", NULL};

static enum status parse_region(const struct argument *row, const char *text, void *field,
                                struct error *err) {
    (void)row; /* region_parse names the parameter itself */
    return region_parse(field, text, err);
}

#define AT(member) offsetof(struct parameters, member)

static const struct argument steps_table[] = {
    {.name = "ops",
     .type = ARGUMENT_PARSED,
     .offset = AT(ops),
     .parse = operations_parse,
     .form = "steps",
     .example = "blur:sigma=8|sharpen:amount=0.5",
     .without = "",
     .help = "The steps, separated by `|`. Each is a filter, followed by its arguments after colons: "
             "`blur:sigma=8:edge=wrap|sharpen:amount=0.5`. At most 8, or fewer if the option `max_steps` is "
             "lower."},
    {0},
};

static const struct argument input_table[] = {
    {.name = "autorotate",
     .type = ARGUMENT_SWITCH,
     .offset = AT(input.autorotate),
     .initial = 1,
     .help = "Turn the picture upright as its EXIF orientation says."},
    {.name = "backend",
     .type = ARGUMENT_CHOICE,
     .offset = AT(input.backend),
     .choices = backends,
     .help = "`cpu` filters on the CPU even if a GPU is available. The answer has the same bytes."},
    {.name = "colorspace",
     .type = ARGUMENT_CHOICE,
     .offset = AT(input.colorspace),
     .choices = colorspaces,
     .help = "`native` filters the planes as stored in the file if the filter allows it, `rgb` filters RGB, "
             "`linear` filters linear light."},
    {.name = "invert",
     .type = ARGUMENT_SWITCH,
     .offset = AT(input.invert),
     .help = "Act on everything but the regions. Needs a region."},
    {.name = "page",
     .type = ARGUMENT_WHOLE,
     .offset = AT(input.page),
     .minimum = 0,
     .maximum = 0,
     .help = "`0` takes the first frame of an animated WebP or AVIF.",
     .without = "animations are refused"},
    {.name = "region",
     .type = ARGUMENT_PARSED,
     .offset = AT(input.region),
     .parse = parse_region,
     .most = REGIONS_MAX,
     .form = "a shape",
     .example = "ellipse:300,100,160,160",
     .without = "everywhere",
     .help =
         "Where to act: `x,y,w,h`, `ellipse:x,y,w,h` or `polygon:x1,y1,x2,y2,...`. Coordinates are those of "
         "the upright picture, in the unit that `unit` sets, or in percent if a `%` follows the number."},
    {0},
};

static const struct argument unit_table[] = {
    {.name = "unit",
     .type = ARGUMENT_CHOICE,
     .offset = AT(input.region.unit),
     .choices = region_unit_names,
     .help =
         "Unit of the numbers in all regions: pixels, percent (0 to 100) or ratios (0 to 1) of the width and "
         "height. A number followed by `%` is always in percent. `percent` and `ratio` need a region."},
    {0},
};

static const struct argument feather_table[] = {
    {.name = "feather",
     .type = ARGUMENT_REAL,
     .offset = AT(input.feather),
     .minimum = 0.5,
     .maximum = 500,
     .unit = " pixels",
     .help = "Width in pixels of the soft edge of the regions. Needs a region.",
     .without = "hard edges"},
    {0},
};

static const struct argument mode_table[] = {
    {.name = "mode",
     .type = ARGUMENT_CHOICE,
     .offset = AT(input.mode),
     .choices = modes,
     .help = "`redact` replaces the content of each region by a coarse mean before the filter runs."},
    {0},
};

static const struct argument output_table[] = {
    {.name = "effort",
     .type = ARGUMENT_WHOLE,
     .offset = AT(output.effort),
     .minimum = 0,
     .maximum = 9,
     .initial = 1,
     .help = "Effort spent on a small PNG, WebP or AVIF, from 0 (fastest) to 9 (smallest file).",
     .without = "1; 3 for a lossy WebP, and for an AVIF of up to 4 megapixels"},
    {.name = "format",
     .type = ARGUMENT_CHOICE,
     .offset = AT(output.format),
     .choices = formats,
     .help = "Format of the answer; `jpg` means `jpeg`. `auto` uses the format that `Accept` prefers, else "
             "the input's, or JPEG for a HEIC, and adds `Vary: Accept`."},
    {.name = "lossless",
     .type = ARGUMENT_SWITCH,
     .offset = AT(output.lossless),
     .help =
         "Write a lossless WebP. `/crop` and `/rotate` move the blocks of a JPEG without a new encoding, or "
         "say why they cannot."},
    {.name = "metadata",
     .type = ARGUMENT_CHOICE,
     .offset = AT(output.metadata),
     .choices = metadata_choices,
     .help = "`strip` keeps only what defines the colours. `keep` also keeps what describes the photograph: "
             "see the table of metadata."},
    {.name = "progressive",
     .type = ARGUMENT_SWITCH,
     .offset = AT(output.progressive),
     .help = "Write a progressive JPEG."},
    {.name = "quality",
     .type = ARGUMENT_WHOLE,
     .offset = AT(output.quality),
     .minimum = 1,
     .maximum = 100,
     .initial = 85,
     .help = "Quality of a JPEG, WebP or AVIF.",
     .without = "85, for AVIF 60; a JPEG changed only in regions keeps its own"},
    {.name = "subsampling",
     .type = ARGUMENT_CHOICE,
     .offset = AT(output.subsampling),
     .choices = subsamplings,
     .help = "Chroma subsampling of a JPEG or AVIF. `auto` is that of the input, or 4:2:0 if the input has "
             "none."},
    {0},
};

/* A NULL filter stands for the pipeline's endpoint. */
static bool is_pipeline(const struct filter *filter) {
    return !filter;
}

static bool always(const struct filter *filter) {
    (void)filter;
    return true;
}

static bool makes_picture(const struct filter *filter) {
    return is_pipeline(filter) || filter->answer == ANSWER_PICTURE;
}

/* Where a filter has a unit of its own, it is also that of the regions. */
static bool has_own_unit(const struct filter *filter) {
    return !is_pipeline(filter) && argument_find(filter->arguments, "unit");
}

static bool shares_unit(const struct filter *filter) {
    return !has_own_unit(filter);
}

/* Redaction comes before every step, so a pipeline takes it with any steps. */
static bool can_redact(const struct filter *filter) {
    return is_pipeline(filter) || filter->moves || filter_id(filter) == FILTER_BLUR ||
           filter_id(filter) == FILTER_PIXELATE;
}

static const struct {
    const struct argument *rows;
    bool (*taken)(const struct filter *filter);
} tables[] = {
    {steps_table, is_pipeline},     {input_table, always},    {unit_table, shares_unit},
    {feather_table, makes_picture}, {mode_table, can_redact}, {output_table, makes_picture},
};
enum { TABLES = sizeof tables / sizeof tables[0] };

const struct argument *parameters_shared(unsigned index) {
    return index < TABLES ? tables[index].rows : NULL;
}

bool parameters_share(const struct filter *filter, unsigned index) {
    return index < TABLES && tables[index].taken(filter);
}

/* A parameter that was looked up. */
struct found {
    const struct argument *row; /* NULL: there is none */
    bool own;                   /* of the filter, whose offsets are in its arguments */
    uint64_t bit;               /* in parameters->given */
};

static unsigned row_count(const struct argument *table) {
    unsigned count = 0;
    while (table[count].name) {
        count++;
    }
    return count;
}

static struct found find(const struct parameters *parameters, const char *name) {
    struct found found = {0};
    unsigned base = 0; /* rows of the tables before */
    if (parameters->filter) {
        const struct argument *table = parameters->filter->arguments;
        found.row = argument_find(table, name);
        found.own = found.row != NULL;
        found.bit = found.row ? UINT64_C(1) << (found.row - table) : 0;
        base = row_count(table);
    }
    for (unsigned i = 0; i < TABLES && !found.row; i++) {
        if (tables[i].taken(parameters->filter) &&
            (found.row = argument_find(tables[i].rows, name)) != NULL) {
            found.bit = UINT64_C(1) << (base + (found.row - tables[i].rows));
        }
        base += row_count(tables[i].rows);
    }
    return found;
}

void parameters_init(struct parameters *parameters, const struct filter *filter) {
    memset(parameters, 0, sizeof *parameters);
    parameters->filter = filter;
    parameters->ops.most = CHAIN_STEPS_MAX;
    for (unsigned i = 0; i < TABLES; i++) {
        arguments_default(tables[i].rows, parameters);
    }
    if (filter) {
        parameters->ops.count = 1;
        parameters->ops.operation[0].filter = filter;
        arguments_default(filter->arguments, &parameters->ops.operation[0].arguments);
    }
}

bool parameters_know(const struct parameters *parameters, const char *name) {
    return find(parameters, name).row != NULL;
}

bool parameters_given(const struct parameters *parameters, const char *name) {
    return (parameters->given & find(parameters, name).bit) != 0;
}

static enum status unknown(const struct parameters *parameters, const char *name, struct error *err) {
    const char *endpoint = parameters->filter ? parameters->filter->name : "pipeline";
    char names[ERROR_TEXT_MAX];
    size_t used = 0;
    if (parameters->filter) {
        used = arguments_list(parameters->filter->arguments, names, sizeof names, used);
    }
    for (unsigned i = 0; i < TABLES; i++) {
        if (tables[i].taken(parameters->filter)) {
            used = arguments_list(tables[i].rows, names, sizeof names, used);
        }
    }
    return fail_argument(err, name, "unknown parameter; %s takes %s", endpoint, names);
}

/* A missing codec must be found here, since costs are predicted before all parameters are checked. */
static enum status check_format(const struct parameters *parameters, struct error *err) {
    int format = parameters->output.format;
    if (format == FORMAT_AUTO || codec_encodes(parameters_codec(format))) {
        return ST_OK;
    }
    char list[CODEC_TITLES_MAX];
    return fail_argument(err, "format",
                         "format is %s, which this build of blurd does not write; it writes %s",
                         formats[format], codec_titles(codec_encodes, "and", list));
}

enum codec_id parameters_codec(int format) {
    static const enum codec_id codecs[] = {
        [FORMAT_JPEG] = CODEC_JPEG, [FORMAT_PNG] = CODEC_PNG,   [FORMAT_JPG] = CODEC_JPEG,
        [FORMAT_WEBP] = CODEC_WEBP, [FORMAT_AVIF] = CODEC_AVIF,
    };
    return codecs[format];
}

enum status parameters_set(struct parameters *parameters, const char *name, const char *value,
                           struct error *err) {
    struct found found = find(parameters, name);
    if (!found.row) {
        return unknown(parameters, name, err);
    }
    if ((parameters->given & found.bit) && found.row->most <= 1) {
        return fail_argument(err, name, "%s is given more than once", name);
    }
    parameters->given |= found.bit;
    void *target = found.own ? (void *)&parameters->ops.operation[0].arguments : parameters;
    enum status status = argument_parse(found.row, value, target, err);
    if (has_own_unit(parameters->filter)) {
        parameters->input.region.unit = parameters->ops.operation[0].arguments.crop.unit;
    }
    if (parameters->output.format == FORMAT_JPG) {
        parameters->output.format = FORMAT_JPEG;
    }
    return status == ST_OK ? check_format(parameters, err) : status;
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
