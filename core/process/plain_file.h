/* SPDX-License-Identifier: MIT
 * Opens files that a person has named, without waiting. */
#ifndef BLURD_CORE_PROCESS_PLAIN_FILE_H
#define BLURD_CORE_PROCESS_PLAIN_FILE_H

#include <stdio.h>

/* Opens a file for reading. NULL for what has no positions, such as a pipe, whose other end may never write;
 * *why then is a text for people. */
FILE *plain_file_open(const char *path, const char **why);

#endif
