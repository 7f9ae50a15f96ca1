/* SPDX-License-Identifier: MIT
 * The tables of the shared parameters. */
#include "server/message/parameters.h"

#include <string.h>

#include "filters/argument/value.h"
#include "server/message/parameters_detect.h"
#include "server/message/parameters_frames.h"

static const char *const formats[] = {"auto",
#define FORMAT(id, name, ...) #name,
#define READ_FORMAT(...)
#include "codecs/formats.def"
                                      "jpg", NULL};
static const char *const subsamplings[] = {"auto", "420", "422", "444", NULL};
static const char *const huffman_choices[] = {"optimal", "standard", NULL};
static const char *const hdr_choices[] = {"auto", "keep", "drop", NULL};
static const char *const metadata_choices[] = {"strip", "keep", NULL};
static const char *const backends[] = {"auto", "cpu", NULL};
static const char *const colorspaces[] = {"native", "rgb", "linear", NULL};
static const char *const modes[] = {"plain", "redact", NULL};

static enum status parse_region(const struct argument *row, const char *text, void *field,
                                struct error *err) {
    (void)row; /* region_parse names the parameter itself */
    return region_parse(field, text, err);
}

static enum status parse_fill(const struct argument *row, const char *text, void *field, struct error *err) {
    return fill_parse(field, row->name, text, err);
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
     .help = "Turn the picture upright as its EXIF orientation says. AVIF, HEIC and JPEG XL are always "
             "turned, as their containers say."},
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
    {.name = "page",
     .type = ARGUMENT_WHOLE,
     .offset = AT(input.page),
     .minimum = 0,
     .maximum = FRAME_LAST,
     .help =
         "Page of a TIFF, or frame of an animation that is taken as a still picture, counted from 0. Of an "
         "animated HEIC only `0` can be taken.",
     .without = "the only page; animations stay animated"},
    {0},
};

static const struct argument region_table[] = {
    {.name = "invert",
     .type = ARGUMENT_SWITCH,
     .offset = AT(input.invert),
     .help = "Act on everything but the regions. Needs a region."},
    {.name = "region",
     .type = ARGUMENT_PARSED,
     .offset = AT(input.region),
     .parse = parse_region,
     .most = REGIONS_GIVEN_MAX,
     .form = "a shape",
     .example = "ellipse:300,100,160,160",
     .without = "everywhere",
     .help = "Where to act: `x,y,w,h`, `ellipse:x,y,w,h` or `polygon:x1,y1,x2,y2,...`. Coordinates are "
             "those of the upright picture, in the unit that `unit` sets, or in percent if a `%` follows "
             "the number."},
    {.name = "require",
     .type = ARGUMENT_SWITCH,
     .offset = AT(input.require),
     .help = "Refuse with 422 a request whose regions and mask cover no pixel: nothing is found, the list is "
             "empty, the mask is 0 everywhere, or `invert` leaves nothing. Needs a region, a list, a mask or "
             "`detect`.",
     .without = "`true` with `mode=redact`, else `false`"},
    {0},
};

static const struct argument unit_table[] = {
    {.name = "unit",
     .type = ARGUMENT_CHOICE,
     .offset = AT(input.region.unit),
     .choices = region_unit_names,
     .help = "Unit of the numbers in all regions: pixels, percent (0 to 100) or ratios (0 to 1) of the "
             "width and height. A number followed by `%` is always in percent. `percent` and `ratio` need "
             "a region."},
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

static const struct argument fill_table[] = {
    {.name = "fill",
     .type = ARGUMENT_PARSED,
     .offset = AT(input.fill),
     .parse = parse_fill,
     .form = "a colour or a name",
     .example = "000000",
     .without = "`000000` of `/redact`, else `mean`",
     .help = "What replaces the content of each region before the filter runs: a colour as `rrggbb`, "
             "`#rrggbb` or `rrggbbaa`; `ring`, the mean of the pixels around the region; `mean`, a coarse "
             "mean of the region itself, up to 4 bits of each channel; or `tiles`, the same in made-up "
             "tiles. Needs `/redact` or `mode=redact`."},
    {0},
};

static const struct argument evidence_table[] = {
    {.name = "plan",
     .type = ARGUMENT_SWITCH,
     .offset = AT(evidence.plan),
     .help = "Hide nothing, and answer with the list of regions that would be hidden, and with doubtful "
             "ones, which score less. The list, edited, is the part `regions` of the request that hides. "
             "Needs `detect`."},
    {.name = "report",
     .type = ARGUMENT_SWITCH,
     .offset = AT(evidence.report),
     .help = "Answer with two parts: a signed report about what was hidden, and the picture. Needs a server "
             "with a key, `--report-key`."},
    {0},
};

static const struct argument mode_table[] = {
    {.name = "mode",
     .type = ARGUMENT_CHOICE,
     .offset = AT(input.mode),
     .choices = modes,
     .help = "`redact` replaces the content of each region, as `fill` says, before the filter runs."},
    {0},
};

static const struct argument output_table[] = {
    {.name = "effort",
     .type = ARGUMENT_WHOLE,
     .offset = AT(output.effort),
     .minimum = 0,
     .maximum = 9,
     .initial = 1,
     .help = "Effort spent on a small PNG, WebP, AVIF or JPEG XL, from 0 (fastest) to 9 (smallest file).",
     .without = "1; 3 for a lossy WebP, and for an AVIF of up to 4 megapixels"},
    {.name = "format",
     .type = ARGUMENT_CHOICE,
     .offset = AT(output.format),
     .choices = formats,
     .help = "Format of the answer; `jpg` means `jpeg`. `auto` uses the format that `Accept` prefers, else "
             "the input's, or JPEG for a HEIC, TIFF or BMP, and adds `Vary: Accept`."},
    {.name = "hdr",
     .type = ARGUMENT_CHOICE,
     .offset = AT(output.hdr),
     .choices = hdr_choices,
     .help =
         "`keep` does to the gain map of an HDR photograph what is done to the picture, where it can, and "
         "redacts it, too; `drop` leaves it out. `auto` is `drop` where something is redacted, else `keep`."},
    {.name = "huffman",
     .type = ARGUMENT_CHOICE,
     .offset = AT(output.huffman),
     .choices = huffman_choices,
     .help =
         "Huffman tables of a JPEG. `optimal` makes them for the picture, `standard` takes the example "
         "tables of the standard (Annex K). The pixels are the same, and the file is smaller with `optimal`. "
         "Progressive JPEGs, and those that change only in regions, always have optimal ones."},
    {.name = "lossless",
     .type = ARGUMENT_SWITCH,
     .offset = AT(output.lossless),
     .help = "Write a lossless WebP or JPEG XL. `/crop` and `/rotate` move the blocks of a JPEG without a "
             "new encoding, also to and from a JPEG XL that holds it, or say why they cannot."},
    {.name = "metadata",
     .type = ARGUMENT_CHOICE,
     .offset = AT(output.metadata),
     .choices = metadata_choices,
     .help = "`strip` keeps only what defines the colours. `keep` also keeps what describes the photograph: "
             "see the table of metadata."},
    {.name = "png_reduce",
     .type = ARGUMENT_SWITCH,
     .offset = AT(output.png_reduce),
     .initial = 1,
     .help =
         "Leave out of a PNG what no pixel needs: alpha that is full everywhere, colour of grey pictures, "
         "and bits where a palette or fewer greys do. Frames of animations keep all."},
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
     .help = "Quality of a JPEG, WebP, AVIF or JPEG XL.",
     .without = "85, for AVIF 60; a JPEG changed only in regions keeps its own"},
    {.name = "subsampling",
     .type = ARGUMENT_CHOICE,
     .offset = AT(output.subsampling),
     .choices = subsamplings,
     .help = "Chroma subsampling of a JPEG or AVIF, and of a JPEG XL up to effort 2. `auto` is that of the "
             "input, or 4:2:0 if the input has none."},
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

/* A search gives regions and takes none. */
static bool takes_regions(const struct filter *filter) {
    return is_pipeline(filter) || filter->answer != ANSWER_BOXES;
}

static bool makes_picture(const struct filter *filter) {
    return is_pipeline(filter) || filter->answer == ANSWER_PICTURE;
}

/* Where a filter has a unit of its own, it is also that of the regions. */
static bool has_own_unit(const struct filter *filter) {
    return !is_pipeline(filter) && argument_find(filter->arguments, "unit");
}

static bool shares_unit(const struct filter *filter) {
    return !has_own_unit(filter) && takes_regions(filter);
}

/* Redaction comes before every step, so a pipeline takes it with any steps. */
static bool can_redact(const struct filter *filter) {
    return is_pipeline(filter) || (filter->moves && filter->answer != ANSWER_BOXES) || filter->redacts;
}

static bool has_modes(const struct filter *filter) {
    return can_redact(filter) && (is_pipeline(filter) || !filter->conceals);
}

static bool gives_evidence(const struct filter *filter) {
    return !is_pipeline(filter) && filter->conceals;
}

static const struct {
    const struct argument *rows;
    bool (*taken)(const struct filter *filter);
} tables[] = {
    {steps_table, is_pipeline},     {input_table, always},          {parameters_frames, makes_picture},
    {region_table, takes_regions},  {unit_table, shares_unit},      {parameters_of_detect, takes_regions},
    {parameters_of_search, always}, {feather_table, makes_picture}, {fill_table, can_redact},
    {mode_table, has_modes},        {output_table, makes_picture},  {evidence_table, gives_evidence},
};
enum { TABLES = sizeof tables / sizeof tables[0] };

const struct argument *parameters_shared(unsigned index) {
    return index < TABLES ? tables[index].rows : NULL;
}

bool parameters_share(const struct filter *filter, unsigned index) {
    return index < TABLES && tables[index].taken(filter);
}
