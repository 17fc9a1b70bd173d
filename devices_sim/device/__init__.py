"""One phone, readable as one story: start with `phone`, then `runtime`.

consent and event_cache hold what a person lets the phone keep; watermarks and budget what it may
still contribute; verification what it believes; once_only when it may send; local_log what it
tells its owner; state and storage how all of it survives a restart.
"""
