/* SPDX-License-Identifier: MIT */
#ifndef BLURD_CODECS_VERSIONS_H
#define BLURD_CODECS_VERSIONS_H

/* "libjpeg-turbo 2.1.5, libpng 1.6.39, zlib 1.2.13"; constant. */
const char *versions_of_codecs(void);

#endif
