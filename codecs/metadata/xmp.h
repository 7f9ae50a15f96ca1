/* SPDX-License-Identifier: MIT
 * XMP: what of it may be passed on. A packet is XML, in which programs store descriptions, thumbnails, whole
 * pictures, and what only they can read. Hostile input is expected: nothing recurses, and all that is kept is
 * bounded. Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_XMP_H
#define BLURD_CODECS_METADATA_XMP_H

#include "core/bytes.h"

/* What stands before a packet in a JPEG segment, with the zero at its end. */
#define XMP_JPEG_NAME "http://ns.adobe.com/xap/1.0/"

enum {
    XMP_INPUT_MAX = 256 << 10,                         /* bytes of a packet that is looked into */
    XMP_SIZE_MAX = 65533 - (int)sizeof(XMP_JPEG_NAME), /* of one that is written: what a segment holds */
};

/* Appends a fresh packet to *output with the properties that are in one of the namespaces of the table in
 * xmp_names.c, and in which there is no element or attribute of another, and no text that is not plain
 * (codecs/metadata/plain_text.h). Namespaces are compared by URI and not by prefix, and are written
 * with the usual prefix. Properties that tell how the file was stored (size, resolution, format) are left out
 * in silence, tiff:Orientation if `upright`; for all others that are left out bits of
 * codecs/metadata/losses.h are set in *losses. Appends nothing when no property is left, or when the packet
 * is over XMP_INPUT_MAX or not well-formed UTF-8 without a document type, or the result over XMP_SIZE_MAX.
 * ST_BUSY without memory. */
enum status xmp_sanitize(struct bytes packet, bool upright, struct buf *output, unsigned *losses,
                         struct error *err);

#endif
