/* SPDX-License-Identifier: MIT
 * What tells one build of the program from another. */
#ifndef BLURD_SERVER_EVIDENCE_BUILD_ID_H
#define BLURD_SERVER_EVIDENCE_BUILD_ID_H

enum { BUILD_ID_TEXT = 65 };

/* The id that the linker gave to the running program (ld's --build-id), as hexadecimal digits; "" without
 * one. Returns `text`. Thread-safe. */
const char *build_id(char text[BUILD_ID_TEXT]);

#endif
