/* SPDX-License-Identifier: MIT
 * A signed text in an envelope (DSSE 1.0, https://github.com/secure-systems-lab/dsse): JSON that has the text
 * in base64, its type, and signatures, each with the name of its key. What is signed is
 *
 *     "DSSEv1" SP LENGTH(type) SP type SP LENGTH(text) SP text
 *
 * so that nothing depends on how JSON is written, and no text passes for one of another type. */
#ifndef BLURD_SERVER_EVIDENCE_DSSE_H
#define BLURD_SERVER_EVIDENCE_DSSE_H

#include "core/slot.h"
#include "server/evidence/report_keys.h"

enum { DSSE_BYTES_MAX = 4 << 20 /* of an envelope that is read */ };

/* Appends the envelope of a text of that type. ST_LIMIT or ST_BUSY as buf_append. */
enum status dsse_write(struct report_keys *keys, const char *type, struct bytes text, struct buf *out,
                       struct error *err);

/* Appends the bytes in base64. ST_LIMIT or ST_BUSY as buf_append. */
enum status dsse_base64(struct bytes raw, struct buf *out, struct error *err);

/* Reads an envelope: the text, and the name of the first key whose signature holds. Both lie in memory that
 * the slot hands out. ST_CORRUPT: it is no envelope of that type. ST_ARGUMENT: no signature holds; the
 * sentence is that of the last one. ST_BUSY or ST_LIMIT as slot_take. */
enum status dsse_read(const struct report_keys *keys, const char *type, struct bytes envelope,
                      struct slot *slot, struct bytes *text, char signer[REPORT_KEY_NAME_MAX + 1],
                      struct error *err);

#endif
