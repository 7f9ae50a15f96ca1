/* SPDX-License-Identifier: MIT */
#include "server/batch/item_line.h"

#include "server/batch/journal.h"

enum status item_line_write(const struct item *item, struct buf *lines, struct error *err) {
    const struct journal_entry entry = {.name = item->input.name,
                                        .status = item->outcome == ITEM_DONE     ? "done"
                                                  : item->outcome == ITEM_FAILED ? "failed"
                                                                                 : "skipped",
                                        .output = item->outcome == ITEM_DONE ? item->answer : NULL,
                                        .file = item->file,
                                        .result = &item->result,
                                        .hashed = item->result.hashed,
                                        .tries = item->tries,
                                        .ms = item->ms};
    return journal_write(&entry, lines, err);
}
