/* SPDX-License-Identifier: MIT
 * Detects builds with a sanitizer, whose leak detector inspects the process from another one. */
#ifndef BLURD_CORE_SANITIZERS_H
#define BLURD_CORE_SANITIZERS_H

#ifdef __has_feature
#define SANITIZER_FEATURE (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZER_FEATURE 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || SANITIZER_FEATURE
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#endif
