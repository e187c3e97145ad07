"""Repairs of the C that Futhark 0.25 writes, before it is compiled."""

from __future__ import annotations

import re

# What Futhark's C for CUDA asks NVRTC for and keeps, and what it shall (include/cuda_compat.h).
MACHINE_CODE = {
    "nvrtcGetPTXSize(prog, &ptx_size)": "pytsp_get_code_size(prog, &ptx_size)",
    "nvrtcGetPTX(prog, *ptx)": "pytsp_get_code(prog, *ptx)",
    "(const unsigned char*)ptx, strlen(ptx))": "(const unsigned char*)ptx, pytsp_code_size)",
}
# The beginning of a kernel that calls functions, and the check of other kernels.
_BEGINS = r"// Harmless for all threads to write this.\n    local_failure = 0;\n"
_CHECK = r"    if (*global_failure >= 0)\n        return;\n"
# A GPU's program in the C: string literals, here in pieces of at most 2,000 characters.
_PROGRAM = re.compile(r'(?<=static const char \*gpu_program\[\] = \{)(?:\s*"(?:[^"\\]|\\.)*",)+')
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
_PIECE = re.compile(r"(?:[^\\]|\\.){1,2000}")
# Conversion of a real by the C of the host; a GPU's is in string literals.
_CONVERTS = re.compile(r"(SCALAR_FUN_ATTR int32_t fptosi_f64_i32\(double x\)\s*\{\n).*?\n\}\n", re.DOTALL)
# Where the CPU's C is to empty its caches, and leaves the memory that is kept for reuse.
_CLEARS = re.compile(r"int futhark_context_clear_caches\(struct futhark_context \*ctx\)\n\{\n(?:(?!\n\}).)*", re.DOTALL)
_RESET = "ctx->peak_mem_usage_default = 0;\n"
# Where a thread's loop calls a function and keeps only where its result lies.
_RESULT = re.compile(r"struct memblock (\w+) = \{\.references =NULL, \.mem =(\w+)\};")


def repair(source: str) -> str:
    """Repair a module's C; C that is not as it is known to be stays as it is."""
    repairs = (
        convert_plainly,
        load_machine_code,
        report_allocations,
        check_for_failures,
        give_back_memory,
        free_results,
    )
    for each in repairs:
        source = each(source)
    return source


def convert_plainly(source: str) -> str:
    """Have a CPU convert a real to a whole number of 32 bits without asking each time whether it is one at all.

    Distances are computed so in the innermost loops. What is converted is finite: instances of other coordinates are
    refused.
    """
    return _CONVERTS.sub(r"\1    return (int32_t) x;\n}\n", source)


def load_machine_code(source: str) -> str:
    """Have CUDA's programs compiled into machine code, which is loaded, and kept between runs."""
    if all(source.count(asked) == 1 for asked in MACHINE_CODE):
        for asked, instead in MACHINE_CODE.items():
            source = source.replace(asked, instead)
    return source


def report_allocations(source: str) -> str:
    """Report an allocation that failed, where Futhark goes on with a null pointer."""
    source = re.sub(
        r"(host_alloc\(ctx, \(size_t\) size, desc, \(size_t \*\) &size, \(void \*\) &block->mem\);)",
        r'\1 if (block->mem == NULL && size > 0) set_error(ctx, strdup("malloc failed"));',
        source,
    )
    return re.sub(
        r"\(void\) (gpu_alloc\(ctx, ctx->log, \(size_t\) size, desc, &block->mem, \(size_t \*\) &size\));",
        r'if (\1 != FUTHARK_SUCCESS) set_error(ctx, strdup("the driver has no more memory"));',
        source,
    )


def check_for_failures(source: str) -> str:
    """Have the kernels of a GPU that call functions end at once where a kernel before them failed, as others do.

    What they work on may not be there then, so that they might never end: the host asks for failures after all kernels.
    """

    def checked(program: re.Match[str]) -> str:
        text = "".join(_LITERAL.findall(program[0])).replace(_BEGINS, _BEGINS + _CHECK)
        return "".join(f'"{piece}",\n' for piece in _PIECE.findall(text))

    return _PROGRAM.sub(checked, source)


def give_back_memory(source: str) -> str:
    """Have the memory that a CPU keeps for reuse given back with the other caches; Futhark does so on GPUs only."""
    clears = _CLEARS.search(source)
    if clears is None or clears[0].count(_RESET) != 1 or "gpu_free_all(ctx)" in clears[0]:
        return source
    emptied = clears[0].replace(_RESET, f"{_RESET}    free_all_in_free_list(ctx);\n")
    declared = "static void free_all_in_free_list(struct futhark_context* ctx);\n"
    return source[: clears.start()] + declared + emptied + source[clears.end() :]


def free_results(source: str) -> str:
    """Have the loops of multicore's threads free the results of the functions that they call.

    They forget who owns a result as soon as they have it: of each call but the last all stays, of that the counter.
    """
    return re.sub(r"(?ms)^\{\n.*?^\}$", lambda body: _free_results(body[0]), source)


def _free_results(body: str) -> str:
    """Have the body of a function keep the blocks of such results, each freed by the next one and at the end."""
    for struct, name in _RESULT.findall(body):
        kept = f"{name}_kept"
        body = body.replace(
            f"struct memblock {struct} = {{.references =NULL, .mem ={name}}};", f"struct memblock {struct} = {kept};"
        )
        body = body.replace(f"{name} = {struct}.mem;", f"{kept} = {struct};\n{name} = {struct}.mem;")
        body = re.sub(
            rf"int64_t {name}_cached_sizze_\d+ = 0;", f"struct memblock {kept} = {{.references = NULL}};", body
        )
        freed = f'if (memblock_unref(ctx, &{kept}, "{name}") != 0)\n            return 1;'
        body = body.replace(f"free({name});", freed)
    return body
