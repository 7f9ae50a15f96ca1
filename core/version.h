/* SPDX-License-Identifier: MIT
 * The version of this program: semantic versioning, told by CHANGELOG.md. And where the project is at home;
 * config/home.sh writes these addresses, here and in all other files that have them. */
#ifndef BLURD_CORE_VERSION_H
#define BLURD_CORE_VERSION_H

#define BLURD_VERSION "1.0.0"
/* The repository, the address below which docs/ is shown, and the container image without its tag. */
#define BLURD_HOME_URL "https://blurd.invalid/blurd"
#define BLURD_DOCS_URL "https://blurd.invalid/blurd/blob/HEAD"
#define BLURD_IMAGE "blurd.invalid/blurd"

#endif
