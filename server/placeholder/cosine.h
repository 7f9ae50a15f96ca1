/* SPDX-License-Identifier: MIT
 * The cosine of JavaScript engines. Those of mathematical libraries differ in the last bit on some
 * processors, and ThumbHash enlarges such differences where a picture is flat or symmetrical. */
#ifndef BLURD_SERVER_PLACEHOLDER_COSINE_H
#define BLURD_SERVER_PLACEHOLDER_COSINE_H

/* The cosine of an angle from 0 to 32 quarters of a turn, by the arithmetic of fdlibm. */
double cosine(double angle);

#endif
