/* SPDX-License-Identifier: MIT
 * nvJPEG without a GPU, for tests: the functions of gpu/nvjpeg.def over libjpeg and host memory, beside the
 * fake driver of tests/fake_cuda, whose device memory is the heap's and whose streams finish each call before
 * it returns: so what a stream marks or records is behind the work here, too. Opened like the real library.
 *
 * It is stricter than nvJPEG where that would go wrong unseen. The file is read in nvjpegDecodeJpegDevice,
 * the last moment at which the real one may look at it. Samples outside of the picture are neither read nor
 * written. An object that two threads use at once, a call out of order, a missing buffer, the default stream:
 * refused, or the program ends.
 *
 * Answers to files: walk.h. Damage inside a scan is NVJPEG_STATUS_EXECUTION_FAILED from
 * nvjpegDecodeJpegDevice. How much of that real hardware notices is not known.
 *
 * Calls fail on demand: FAKE_CUDA_FAULT and FAKE_CUDA_FAULT_FILE of tests/fake_cuda/faults.h, with the names
 * of these functions. What destroys does so nevertheless. FAKE_CUDA_FAULT=nvjpegDecoderCreate:1:7 is a GPU
 * without hardware decoders. */
#ifndef BLURD_TESTS_FAKE_NVJPEG_H
#define BLURD_TESTS_FAKE_NVJPEG_H

#define FAKE_NVJPEG_VISIBLE __attribute__((visibility("default")))

/* How many objects there are that nobody has destroyed; by dlsym. */
FAKE_NVJPEG_VISIBLE int fake_nvjpeg_objects(void);

#endif
