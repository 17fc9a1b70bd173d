"""The shell around the aggregation: people, pages, the API, jobs and the database."""

import gc

# Python looks for cycles after every 700 new objects, often among all of the 200,000 that a process
# has after its start. Less often saves a tenth of each start and a twentieth of what tests cost.
gc.set_threshold(10_000, 20, 20)
