/* Put in front of the C that Futhark generates for CUDA. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cuda.h>
#include <nvrtc.h>
#include <stddef.h>

/* CUDA 13 gave cuCtxCreate a fourth parameter. */
#if CUDA_VERSION >= 13000
#undef cuCtxCreate
#define cuCtxCreate(context, flags, device) cuCtxCreate_v4((context), NULL, (flags), (device))
#endif

/* Kernels as they go to the device and into the cache: machine code where NVRTC made it, which it does for a real
   architecture; else PTX with its last byte, 0. From PTX the driver makes machine code itself, on one core. */
static _Thread_local size_t pytsp_code_size;

static nvrtcResult pytsp_get_code_size(nvrtcProgram program, size_t *size) {
  nvrtcResult result = nvrtcGetCUBINSize(program, size);
  if (result == NVRTC_SUCCESS && *size == 0) result = nvrtcGetPTXSize(program, size);
  pytsp_code_size = *size;
  return result;
}

static nvrtcResult pytsp_get_code(nvrtcProgram program, char *code) {
  size_t size = 0;
  nvrtcResult result = nvrtcGetCUBINSize(program, &size);
  if (result != NVRTC_SUCCESS) return result;
  return size == 0 ? nvrtcGetPTX(program, code) : nvrtcGetCUBIN(program, code);
}
