"""A simulation: a made-up fleet and the real system, driven through weeks as fast as they go.

Start with `run`. `plan` is what was asked for; `system` the real processes in a data folder of
their own; `shard` a process with some of the phones, and `fleet` all of them; `ledger` who sent
what, and what became of it; `errors` and `reached` what the releases and the reach are measured by.
"""
