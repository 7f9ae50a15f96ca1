/* SPDX-License-Identifier: MIT
 * Which files of a folder or a tar are taken for pictures. */
#ifndef BLURD_SERVER_BATCH_INPUT_PICTURE_NAMES_H
#define BLURD_SERVER_BATCH_INPUT_PICTURE_NAMES_H

#include <stdbool.h>

/* Whether the file begins as one of a format that blurd knows, or its name ends as that of a picture. A
 * damaged picture with such a name is then told as a failure, and one of a format that blurd does not read,
 * too. Names that begin with "._" are not looked at: macOS puts attributes there. */
bool picture_names_fit(int fd, const char *name);

#endif
