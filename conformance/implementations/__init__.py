"""Implementations under test.

- `under_test`: the interface that worlds of real processes know.
- `ours`: the references and their mutants; programs of others come by `conformance.profiles`.
"""
