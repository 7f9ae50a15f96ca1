/* SPDX-License-Identifier: MIT
 * The names in XMP that are known here. Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_XMP_NAMES_H
#define BLURD_CODECS_METADATA_XMP_NAMES_H

#include "core/bytes.h"

/* The first three are XMP's own grammar; the others may hold properties. */
enum { XMP_FOREIGN = -1, XMP_XML, XMP_RDF, XMP_META, XMP_PROPERTIES };

/* The number of the namespace with that URI; XMP_FOREIGN when nothing in it is passed on. */
int xmp_space(struct bytes uri);

/* The prefix and URI of a namespace that xmp_space gave. */
const char *xmp_prefix(int space);
const char *xmp_uri(int space);

/* Namespaces there are, XMP_XML and the others of the grammar included: fewer than 32. */
int xmp_space_count(void);

enum xmp_verdict {
    XMP_KEEP,
    XMP_STALE,       /* tells how the file was stored, which is no longer so */
    XMP_ORIENTATION, /* stale when the pixels were turned */
    XMP_PICTURE,     /* shows the picture as it was */
};

/* What becomes of a property, or of an element in one, by its name alone. */
enum xmp_verdict xmp_judge(int space, struct bytes local);

enum { XMP_LOCAL_MAX = 64 }; /* bytes of a name behind its prefix */

/* Splits a name at its colon; the prefix is empty without one. */
void xmp_split(struct bytes text, struct bytes *prefix, struct bytes *local);

/* Whether it is a name behind a prefix: letters, digits, and _-. of ASCII, up to XMP_LOCAL_MAX. */
bool xmp_is_local(struct bytes text);

#endif
