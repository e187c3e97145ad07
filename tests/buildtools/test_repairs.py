"""What is mended in the C that Futhark writes, and what must not be in it."""

from __future__ import annotations

import re

import pytest
from checkout import needs_checkout

needs_checkout("buildtools")

from buildtools import paths, repairs  # noqa: E402

GPU_C = sorted([*paths.KERNELS.glob("cuda_*.c"), *paths.KERNELS.glob("opencl_*.c")])
BEGINS = r"// Harmless for all threads to write this.\n    local_failure = 0;\n"


def kernels_of(source: str) -> list[str]:
    """Take the kernels out of the C of a GPU program, each with what its literals say, escapes as they are there."""
    program = re.search(r"static const char \*gpu_program\[\] = \{(.*?)NULL\};", source, re.DOTALL)
    assert program is not None
    return "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', program[1])).split("FUTHARK_KERNEL")[1:]


@pytest.fixture(scope="module")
def gpu_kernels() -> list[str]:
    """The kernels of all GPU programs that are built here."""
    found = [each for file in GPU_C for each in kernels_of(file.read_text(encoding="utf-8"))]
    if not found:
        pytest.skip("no GPU program was built here")
    return found


def test_machine_code_is_loaded_and_kept_where_the_c_asks_as_it_is_known_to() -> None:
    asked = "\n".join(repairs.MACHINE_CODE)
    assert repairs.repair(asked) == "\n".join(repairs.MACHINE_CODE.values())
    # Half of it would keep code that is cut short.
    for part in repairs.MACHINE_CODE:
        for changed in (asked.replace(part, ""), asked + part):
            assert repairs.repair(changed) == changed
    for generated in paths.KERNELS.glob("cuda_*.c"):
        assert all(instead in generated.read_text(encoding="utf-8") for instead in repairs.MACHINE_CODE.values())


def test_a_kernel_that_calls_functions_looks_for_failures_wherever_its_text_is_cut() -> None:
    text = r"FUTHARK_KERNEL(f)\nvoid f(__global int *global_failure)\n{ \"quoted\" " + BEGINS + "    int x;}"
    escapes = re.findall(r"\\.|[^\\]", text)
    for cut in range(len(escapes) + 1):
        pieces = ("".join(escapes[:cut]), "".join(escapes[cut:]), "other")
        source = 'static const char *gpu_program[] = {"{}",\n    "{}", "{}",\nNULL};\n'.replace("{}", "%s") % pieces
        (kernel,) = kernels_of(repairs.repair(source))
        assert BEGINS + r"    if (*global_failure >= 0)\n        return;\n    int x;}other" in kernel
        assert kernel.count("return") == 1


def test_every_kernel_that_may_follow_a_failure_looks_for_it(gpu_kernels: list[str]) -> None:
    # Not what only copies, and has no failures handed over.
    concerned = [each for each in gpu_kernels if "*global_failure" in each.partition("{")[0]]
    assert len(concerned) > len(gpu_kernels) / 2
    assert not [each[:80] for each in concerned if "*global_failure >= 0" not in each]


def test_no_kernel_tells_twice_which_block_is_last(gpu_kernels: list[str]) -> None:
    # A kernel made of two reductions uses one flag for both, with no barrier between: `extremes` in gpu_metric.fut.
    assert max(len(re.findall(r"is_last_block_\d+ = \(", each)) for each in gpu_kernels) == 1


@pytest.mark.parametrize("name", ["c", "multicore"])
def test_a_cpu_converts_distances_without_asking_whether_they_are_numbers(name: str) -> None:
    source = (paths.KERNELS / f"{name}.c").read_text(encoding="utf-8")
    bodies = re.findall(r"int32_t fptosi_f64_i32\(double x\)\s*\{([^}]*)\}", source)
    assert {body.strip() for body in bodies} == {"return (int32_t) x;"}


@pytest.mark.parametrize("name", ["c", "multicore"])
def test_the_cpus_caches_are_emptied_once(name: str) -> None:
    source = (paths.KERNELS / f"{name}.c").read_text(encoding="utf-8")
    emptied = re.search(
        r"int futhark_context_clear_caches\(struct futhark_context \*ctx\)\n\{.*?\n\}", source, re.DOTALL
    )
    assert emptied is not None
    assert emptied[0].count("free_all_in_free_list(ctx);") == 1


def test_a_loop_frees_the_results_of_the_functions_that_it_calls() -> None:
    source = """static int loop(void)
{
    int64_t ext_mem_1_cached_sizze_2 = 0;
    unsigned char *ext_mem_1 = NULL;
    struct memblock ext_mem_struct_3 = {.references =NULL, .mem =ext_mem_1};
    call(&ext_mem_struct_3);
    ext_mem_1 = ext_mem_struct_3.mem;
  cleanup:
    {
        free(ext_mem_1);
    }
}
static int other(void)
{
    free(ext_mem_1);
}
"""
    expected = """static int loop(void)
{
    struct memblock ext_mem_1_kept = {.references = NULL};
    unsigned char *ext_mem_1 = NULL;
    struct memblock ext_mem_struct_3 = ext_mem_1_kept;
    call(&ext_mem_struct_3);
    ext_mem_1_kept = ext_mem_struct_3;
ext_mem_1 = ext_mem_struct_3.mem;
  cleanup:
    {
        if (memblock_unref(ctx, &ext_mem_1_kept, "ext_mem_1") != 0)
            return 1;
    }
}
static int other(void)
{
    free(ext_mem_1);
}
"""
    assert repairs.repair(source) == expected


@pytest.mark.parametrize("name", ["c", "multicore"])
def test_all_results_of_functions_have_an_owner(name: str) -> None:
    source = (paths.KERNELS / f"{name}.c").read_text(encoding="utf-8")
    kept = re.findall(r"struct memblock (\w+)_kept = \{\.references = NULL\};", source)
    results = re.findall(r"struct memblock \w*_struct_\d+ = (.*);", source)
    assert (name == "multicore") == bool(kept) == bool(results)
    assert {f"{each}_kept" for each in kept} == set(results)
    # Two functions may give theirs the same name.
    for each in kept:
        assert source.count(f"memblock_unref(ctx, &{each}_kept,") == kept.count(each)
