/* SPDX-License-Identifier: MIT
 * The pages of a TIFF file. Pages are numbered like directories, from 0. A directory that is marked as a
 * smaller version or as a mask of another one has a number, too, but is never taken unless it is asked for.
 * Internal to codecs/tiff. */
#ifndef BLURD_CODECS_TIFF_TIFF_PAGES_H
#define BLURD_CODECS_TIFF_TIFF_PAGES_H

#include "codecs/definition.h"
#include "codecs/tiff/tiff_directory.h"

enum { TIFF_PAGES_MAX = 65536 };

/* Goes to the page limits->page with limits->first_frame, else to the only one. *losses gets the bits of what
 * is in other directories (codecs/metadata/losses.h). ST_ARGUMENT for a number beyond the last one,
 * ST_UNSUPPORTED for several pages without a number, or for none that is not a smaller version; ST_CORRUPT
 * where a directory lies outside of the file; ST_LIMIT for more than TIFF_PAGES_MAX, as of directories in a
 * circle. */
enum status tiff_pages_choose(struct tiff_directory *directory, const struct codec_limits *limits,
                              unsigned *losses, struct error *err);

#endif
