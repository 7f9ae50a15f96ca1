/* SPDX-License-Identifier: MIT
 * The known XMP names. Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_XMP_NAMES_H
#define BLURD_CODECS_METADATA_XMP_NAMES_H

#include "core/bytes.h"

/* The first three are XMP's own grammar; the others may hold properties. */
enum { XMP_FOREIGN = -1, XMP_XML, XMP_RDF, XMP_META, XMP_PROPERTIES };

/* The namespace with that URI; XMP_FOREIGN when none of its names is passed on. */
int xmp_names_space(struct bytes uri);

/* `space` is a result of xmp_names_space. */
const char *xmp_names_prefix(int space);
const char *xmp_names_uri(int space);

/* Number of namespaces, those of the grammar included: fewer than 32. */
int xmp_names_space_count(void);

enum xmp_verdict {
    XMP_KEEP,
    XMP_STALE,       /* describes the input's storage */
    XMP_ORIENTATION, /* stale when the pixels were turned */
    XMP_PICTURE,     /* shows the picture as it was */
};

/* Judges a property, or an element in one, by its name alone. */
enum xmp_verdict xmp_names_judge(int space, struct bytes local);

enum { XMP_LOCAL_MAX = 64 }; /* bytes of a name behind its prefix */

/* Splits a name at its colon; the prefix is empty without one. */
void xmp_names_split(struct bytes text, struct bytes *prefix, struct bytes *local);

/* Whether the text is a local name: ASCII letters, digits, and _-. up to XMP_LOCAL_MAX bytes. */
bool xmp_names_is_local(struct bytes text);

#endif
