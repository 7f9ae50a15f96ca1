/* SPDX-License-Identifier: MIT
 * Overwrites in a gain map what it shows of the regions that are redacted in its base. */
#ifndef BLURD_SERVER_HDR_HDR_REDACT_H
#define BLURD_SERVER_HDR_HDR_REDACT_H

#include "core/image.h"
#include "core/status.h"

struct hdr_decision;

/* `mask`, of the size of the decoded `map`, is 255 for all samples that stand for a hidden pixel. The samples
 * beside them are hidden, too, as cameras and readers blend the pixels around a sample, and all blocks of the
 * map's own file that any of these is in (selection_blocks). They become the sample that changes the base
 * least, which depends on the map's numbers alone: no sample that could show a hidden pixel is read. *mask is
 * grown to what was overwritten. ST_LIMIT at the deadline, with the map useless. Thread-safe for different
 * maps. */
enum status hdr_redact(const struct hdr_decision *hdr, const struct image *mask, const struct image *map,
                       int64_t deadline_ns, struct error *err);

#endif
