"""Held and Karp's lower bound, with a certificate."""

from pytsp.bound.bound import lower_bound
from pytsp.bound.certificate import Certificate, certificate_text, read_certificate
from pytsp.bound.exact import check_certificate

__all__ = ["Certificate", "certificate_text", "check_certificate", "lower_bound", "read_certificate"]
