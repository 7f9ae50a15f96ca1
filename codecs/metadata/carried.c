/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/carried.h"

#include "codecs/metadata/exif.h"
#include "codecs/metadata/icc/icc.h"
#include "codecs/metadata/icc/icc_colours.h"
#include "codecs/metadata/iptc.h"
#include "codecs/metadata/losses.h"
#include "codecs/metadata/texts.h"
#include "codecs/metadata/xmp.h"

/* From this orientation on, rows and columns are swapped. */
enum { ORIENTATION_TURNED = 5 };

static struct density choose_density(const struct metadata *metadata, bool upright) {
    struct density density =
        metadata->density.unit != DENSITY_NONE ? metadata->density : exif_density(metadata->exif);
    bool turned = upright && metadata->orientation >= ORIENTATION_TURNED;
    return turned ? density_turned(density) : density;
}

static enum status make_xmp(const struct metadata *metadata, bool upright, struct carried *carried,
                            struct error *err) {
    struct buf inflated = {0};
    struct bytes packet = metadata->xmp;
    enum status status = ST_OK;
    if (metadata->xmp_deflated) {
        status = texts_inflate(packet, XMP_INPUT_MAX, &inflated, err);
        packet = buf_bytes(&inflated);
        carried->losses |= packet.size == 0 ? LOSS_XMP : 0;
    }
    if (status == ST_OK) {
        status = xmp_sanitize(packet, upright, &carried->xmp, &carried->losses, err);
    }
    buf_finish(&inflated);
    return status;
}

/* Whether the format can store the density. EXIF has no ratio without a unit. */
static bool density_fits(struct density density, const struct codec *target) {
    uint8_t bytes[9];
    bool unit = density.unit == DENSITY_INCH || density.unit == DENSITY_CM;
    return density.unit == DENSITY_NONE || (target->write_density ? target->write_density(density, bytes)
                                                                  : unit && (target->holds & LOSS_EXIF));
}

static enum status make_exif(const struct metadata *metadata, const struct codec *target,
                             const struct exif_facts *facts, struct carried *carried, struct error *err) {
    /* One entry, the orientation, beside which exif_sanitize writes the density. */
    const uint8_t bare[] = {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0,
                            3,   0,   0, 0,  1, 0, 1, 0, 0, 0, 0, 0,    0};
    enum status status = exif_sanitize(metadata->exif, facts, &carried->exif, &carried->losses, err);
    bool needed = !target->write_density && facts->density.unit != DENSITY_NONE;
    if (status == ST_OK && needed && carried->exif.size == 0) {
        const struct bytes tiff = {bare, sizeof bare};
        status = exif_sanitize(tiff, facts, &carried->exif, &carried->losses, err);
    }
    return status;
}

/* What the format has no place for is lost. */
static void leave_out(const struct metadata *metadata, const struct codec *target, struct carried *carried) {
    const struct {
        struct buf *buf;
        enum loss loss;
    } parts[] = {{&carried->profile, LOSS_COLOUR},
                 {&carried->exif, LOSS_EXIF},
                 {&carried->xmp, LOSS_XMP},
                 {&carried->iptc, LOSS_IPTC}};
    unsigned found = 0;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        found |= parts[i].buf->size > 0 ? parts[i].loss : 0;
        parts[i].buf->size = target->holds & parts[i].loss ? parts[i].buf->size : 0;
    }
    for (unsigned i = 0; i < metadata->chunk_count; i++) {
        enum chunk_kind kind = metadata->chunk[i].kind;
        bool text = kind == CHUNK_COMMENT || kind == CHUNK_TEXT || kind == CHUNK_TEXT_DEFLATED ||
                    kind == CHUNK_TEXT_INTERNATIONAL;
        found |= text ? LOSS_TEXT : kind == CHUNK_TIME ? LOSS_OTHER : 0;
    }
    carried->losses |= found & ~target->holds;
}

static enum status make_personal(const struct metadata *metadata, const struct codec *target,
                                 const struct image_shape *shape, bool upright, struct carried *carried,
                                 struct error *err) {
    carried->density = choose_density(metadata, upright);
    if (!density_fits(carried->density, target)) {
        carried->losses |= LOSS_RESOLUTION;
        carried->density = (struct density){0};
    }
    const struct exif_facts facts = {upright, shape->width, shape->height, carried->density};
    enum status status = make_exif(metadata, target, &facts, carried, err);
    if (status == ST_OK) {
        status = make_xmp(metadata, upright, carried, err);
    }
    if (status == ST_OK) {
        status = iptc_sanitize(metadata->photoshop, &carried->iptc, &carried->losses, err);
    }
    return status;
}

enum status carried_make(const struct metadata *metadata, const struct codec *target,
                         const struct image_shape *shape, const struct encode_options *options,
                         struct carried *carried, struct error *err) {
    buf_init(&carried->exif, EXIF_SIZE_MAX);
    buf_init(&carried->xmp, XMP_SIZE_MAX);
    buf_init(&carried->iptc, IPTC_SIZE_MAX);
    if (!metadata) {
        return ST_OK;
    }
    carried->losses = metadata->losses;
    enum pixel_model model = target->grey_as_rgb ? PIXEL_RGB : shape->model;
    enum status status = icc_read(metadata, model, &carried->profile, err);
    if (status == ST_OK) {
        bool complete;
        status = icc_colours_describe(metadata, target, model, &carried->profile, &complete, err);
        carried->losses |= complete ? 0 : LOSS_COLOUR;
    }
    if (status == ST_OK && options->keep_metadata) {
        bool upright = options->upright || metadata->upright;
        status = make_personal(metadata, target, shape, upright, carried, err);
    }
    leave_out(metadata, target, carried);
    return status;
}

void carried_report(const struct carried *carried, const struct encode_options *options) {
    /* Losses that the caller did not ask for. */
    unsigned asked = options->keep_metadata ? ~0u : LOSS_COLOUR | LOSS_PICTURES;
    if (options->losses) {
        *options->losses |= carried->losses & asked;
    }
}

void carried_finish(struct carried *carried) {
    buf_finish(&carried->profile);
    buf_finish(&carried->exif);
    buf_finish(&carried->xmp);
    buf_finish(&carried->iptc);
}
