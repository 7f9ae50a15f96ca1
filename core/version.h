/* SPDX-License-Identifier: MIT
 * The version of this program: semantic versioning, told by CHANGELOG.md. */
#ifndef BLURD_CORE_VERSION_H
#define BLURD_CORE_VERSION_H

#define BLURD_VERSION "0.1.0"

#endif
