/* Put in front of the C that Futhark generates for CUDA: CUDA 13 gave cuCtxCreate a fourth parameter. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cuda.h>
#if CUDA_VERSION >= 13000
#undef cuCtxCreate
#define cuCtxCreate(context, flags, device) cuCtxCreate_v4((context), NULL, (flags), (device))
#endif
