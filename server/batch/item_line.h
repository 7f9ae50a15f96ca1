/* SPDX-License-Identifier: MIT
 * The line of a report that tells of an item. */
#ifndef BLURD_SERVER_BATCH_ITEM_LINE_H
#define BLURD_SERVER_BATCH_ITEM_LINE_H

#include "server/batch/item.h"

/* Appends it to `lines`. ST_BUSY without memory. */
enum status item_line_write(const struct item *item, struct buf *lines, struct error *err);

#endif
