"""Operators that are programs, on the simulated cluster, in lock-step virtual time.

A released program runs as it is, against a served cluster in the harness's own process. Time is the
cluster's: it moves to the next event once every program has nothing left to do at the present time.

- `pacing`: one run's programs and sockets, and the moments at which time may move.
- `program_process`: one program through all its incarnations, as faults address it.
- `http_connection`: its requests, parsed as they arrive, and the responses.
- `serving`: each request on its way, with the places and rules of the simulated connection.
- `http_watch`: its watches, each event after a seeded lag.
- `webhook_exchange`: calls to the webhooks that the program serves.
- `serving_certificate`: the files by which it serves them.
- `health_probe`: whether it is ready.
- `program_host`: what a run needs to make all of these.
"""
