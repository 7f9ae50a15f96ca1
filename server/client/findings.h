/* SPDX-License-Identifier: MIT
 * Lines of a report on a machine. */
#ifndef BLURD_SERVER_CLIENT_FINDINGS_H
#define BLURD_SERVER_CLIENT_FINDINGS_H

#include <stdio.h>

struct findings {
    FILE *out;
    unsigned good, notes, wrong; /* lines of each kind so far */
};

/* A thing that is as it should be; `text` has the format of printf. */
__attribute__((format(printf, 3, 4))) void findings_good(struct findings *findings, const char *name,
                                                         const char *text, ...);

/* One with which the daemon serves, though less well, and what can be done. */
__attribute__((format(printf, 4, 5))) void findings_note(struct findings *findings, const char *name,
                                                         const char *remedy, const char *text, ...);

/* One for which it does not do what it is configured for. */
__attribute__((format(printf, 4, 5))) void findings_fail(struct findings *findings, const char *name,
                                                         const char *remedy, const char *text, ...);

#endif
