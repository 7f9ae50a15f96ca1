/* SPDX-License-Identifier: MIT
 * A kernel that faults. Tests show with it that no request is lost. */
extern "C" __global__ void fault() {
    __trap();
}
