"""From sums to a release: noise first, then only post-processing of what was noised.

    Report ──noise──► Noised ──commit──► estimates, marginals ──► suppress, derive ──► Parquet, card

`noise` is the one step that sees un-noised sums. Everything after it reads the noised integers of
the committed row and public parameters, so it can be done again at any time, by anyone, and costs
no privacy.
"""
