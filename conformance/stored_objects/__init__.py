"""Objects as an API server has them.

- `lookup` finds one by name, over a `retrying_connection` where the server may be away.
- `state`: a suite's view of one object's fields. `recorded`: the part that histories hold.
"""
