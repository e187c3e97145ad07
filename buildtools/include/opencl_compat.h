/* What the C that Futhark writes for OpenCL is compiled with. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_SILENCE_DEPRECATION
#if defined(__APPLE__)
#include <OpenCL/cl.h>
#elif __has_include(<CL/cl.h>)
#include <CL/cl.h>
#endif

#ifdef CL_VERSION_1_2
/* Futhark copies some arrays onto themselves, which OpenCL refuses: there is nothing to copy, but an event to record. */
static inline cl_int pytsp_copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                                       size_t to_offset, size_t bytes, cl_uint count, const cl_event *events,
                                       cl_event *event)
{
    if (from == to && from_offset == to_offset)
        return clEnqueueMarkerWithWaitList(queue, count, events, event);
    return clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, bytes, count, events, event);
}
#define clEnqueueCopyBuffer pytsp_copy_buffer
#endif
