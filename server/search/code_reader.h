/* SPDX-License-Identifier: MIT
 * What reads codes for a search, in the process of a worker's isolated codecs. */
#ifndef BLURD_SERVER_SEARCH_CODE_READER_H
#define BLURD_SERVER_SEARCH_CODE_READER_H

#include "detect/codes/symbols.h"

struct codec_link;

/* The reader over a link, which is not NULL and outlives it. It waits for the process, which has the deadline
 * of the search; ST_INTERNAL when it dies or sends what no reader does. */
struct codes_reader code_reader_make(struct codec_link *link);

#endif
