/* SPDX-License-Identifier: MIT
 * A kernel that faults, so that tests can show that nothing is lost when one does. */
extern "C" __global__ void fault() {
    asm volatile("trap;");
}
