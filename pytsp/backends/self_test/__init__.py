"""The self-test at a driver's first start: small searches, what they are compared with, and the verdict."""
