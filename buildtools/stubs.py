"""Type stubs of the compiled modules, from the headers that Futhark writes."""

from __future__ import annotations

import re

HEAD = '''\
"""The {name} kernels: Futhark's C interface, through cffi (generated)."""

from typing import Any

from cffi import FFI

ffi: FFI

class _Lib:
'''


def write_stub(header: str, name: str) -> str:
    """Write the stub of the module whose C functions `header` declares."""
    lines = []
    for result, function, parameters in re.findall(r"(?m)^([\w ]+[ *])(futhark_\w+)\(([^)]*)\);", header):
        names = [] if parameters.strip() in ("", "void") else parameters.split(",")
        arguments = "".join(f", a{number}: {_python_type(kind)}" for number, kind in enumerate(names))
        lines.append(f"    def {function}(self{arguments}, /) -> {_python_type(result)}: ...\n")
    return HEAD.format(name=name) + "".join(lines) + "\nlib: _Lib\n"


def _python_type(declared: str) -> str:
    if "*" in declared or re.match(r"\s*(const\s+)?(cl_|CU)", declared):
        return "Any"
    for pattern, name in ((r"\bvoid\b", "None"), (r"\bbool\b", "bool"), (r"\b(float|double)\b", "float")):
        if re.search(pattern, declared):
            return name
    return "int"
