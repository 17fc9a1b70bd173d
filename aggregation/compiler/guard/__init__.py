"""The guard: every rule a named function that gives its verdict as a sentence with a remedy.

`unseen` judges the text that people read, `syntax` the parser's tree, `names` each look-up of a
table or column, `meaning` the bound query, `server` the query across devices, `eligibility` the
query over device facts, and `fields` everything in the spec that is not SQL.
"""
