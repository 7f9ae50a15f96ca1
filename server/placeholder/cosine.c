/* SPDX-License-Identifier: MIT
 * The nearest multiple of a quarter turn is subtracted in two or three steps, so that the rest is exact to
 * more bits than a double has. A polynomial makes sine or cosine of the rest. Constants and the order of the
 * operations are those of fdlibm (netlib.org/fdlibm). */
#include "server/placeholder/cosine.h"

#include <stdint.h>
#include <string.h>

/* A rest in two parts. */
struct rest {
    double high, low;
};

/* Parts of pi/2: the first 33 bits and all others, the next 33 bits and all others. */
static const double first = 0x1.921FB544p+0, behind_first = 0x1.0B4611A626331p-34;
static const double second = 0x1.0B4611A6p-34, behind_second = 0x1.3198A2E037073p-69;

/* The upper half of a positive number's bits: exponent and the first 20 bits of the fraction. */
static uint32_t upper(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint32_t)(bits >> 32) & INT32_MAX;
}

static int exponent(double value) {
    return (int)(upper(value) >> 20);
}

/* Subtracts `quarters` quarter turns. Where most bits cancel, further bits of pi/2 are used. */
static struct rest reduce(double angle, unsigned quarters) {
    enum { CANCELLED_MOST = 16 };
    const double pi_2 = 0x1.921FB54442D18p+0;
    double part = angle - quarters * first, below = quarters * behind_first;
    double high = part - below;
    if (upper(angle) == upper(quarters * pi_2) && exponent(angle) - exponent(high) > CANCELLED_MOST) {
        double whole = part;
        below = quarters * second;
        part = whole - below;
        below = quarters * behind_second - ((whole - part) - below);
        high = part - below;
    }
    return (struct rest){high, (part - high) - below};
}

static double sine_of(const struct rest *rest) {
    static const double tiny = 0x1p-27;
    static const double factor[] = {-1.66666666666666324348e-01, 8.33333333332248946124e-03,
                                    -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                                    -2.50507602534068634195e-08, 1.58969099521155010221e-10};
    const double x = rest->high, z = x * x, cube = z * x;
    if (x < tiny && x > -tiny) {
        return x;
    }
    double sum = factor[5];
    for (unsigned i = 4; i > 0; i--) {
        sum = factor[i] + z * sum;
    }
    return x - ((z * (0.5 * rest->low - cube * sum) - rest->low) - cube * factor[0]);
}

static double cosine_of(const struct rest *rest) {
    static const double factor[] = {4.16666666666666019037e-02, -1.38888888888741095749e-03,
                                    2.48015872894767294178e-05, -2.75573143513906633035e-07,
                                    2.08757232129817482790e-09, -1.13596475577881948265e-11};
    enum { SMALL = 0x3FD33333, LARGE = 0x3FE90000, QUARTER = 2 << 20 };
    const double z = rest->high * rest->high;
    const uint32_t size = upper(rest->high);
    double sum = factor[5], whole = 0;
    for (unsigned i = 5; i-- > 0;) {
        sum = factor[i] + z * sum;
    }
    double tail = z * (z * sum) - rest->high * rest->low;
    if (size >= SMALL) { /* 1 - z / 2 is made of parts that are exact */
        uint64_t bits = (uint64_t)(size - QUARTER) << 32;
        memcpy(&whole, &bits, sizeof whole);
        whole = size > LARGE ? 0.28125 : whole;
        return (1 - whole) - ((0.5 * z - whole) - tail);
    }
    return 1 - (0.5 * z - tail);
}

double cosine(double angle) {
    static const double quarters_of_one = 6.36619772367581382433e-01;
    enum { EIGHTH = 0x3FE921FB }; /* of a turn */
    unsigned quarters = upper(angle) <= EIGHTH ? 0 : (unsigned)(angle * quarters_of_one + 0.5);
    const struct rest rest = quarters ? reduce(angle, quarters) : (struct rest){angle, 0};
    double size = quarters % 2 ? sine_of(&rest) : cosine_of(&rest);
    return (quarters + 1) % 4 >= 2 ? -size : size;
}
