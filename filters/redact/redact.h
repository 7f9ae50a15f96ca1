/* SPDX-License-Identifier: MIT
 * Redaction alone: what is in the regions is overwritten before the chain runs (cpu/mask/redact.h), and the
 * step leaves it and all else as it is. Its plan is an adjustment that changes nothing. */
#ifndef BLURD_FILTERS_REDACT_REDACT_H
#define BLURD_FILTERS_REDACT_REDACT_H

#include "filters/adjust/adjust.h"

extern const struct filter filter_redact;

#endif
