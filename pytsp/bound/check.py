"""The check of a certificate: its bound is proved again from its penalties and the distances."""

from __future__ import annotations

from pytsp.bound.certificate import Certificate, check_instance, dense_one_tree
from pytsp.bound.exact import proved_in_plane
from pytsp.bound.graphs import MOST_CITIES, TOURS
from pytsp.problem.instance import Instance


def check_certificate(instance: Instance, certificate: Certificate, *, all_pairs: bool = False) -> None:
    """Prove a bound again, from its penalties and all distances, without a kernel: work O(n²), memory O(n).

    Tours of more than 20,000 cities are proved by kernels, in about O(n log n), unless `all_pairs` are asked for. It
    raises `ValueError` if the penalties prove another bound or break a law, and `InstanceError` for too many cities
    that are not in the plane.
    """
    if instance.n > MOST_CITIES and certificate.kind == TOURS and instance.fixed is None and not all_pairs:
        check_instance(instance)
        proved = proved_in_plane(instance, certificate.penalties, certificate.scale)
    else:
        proved = dense_one_tree(instance, certificate.penalties, certificate.scale, certificate.kind).bound
    if proved != certificate.bound:
        raise ValueError(f"the certificate says {certificate.bound}, but its penalties prove {proved}")
