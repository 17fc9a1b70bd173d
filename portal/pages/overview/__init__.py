"""The operators' overview: is anything wrong, and what is to be done about it.

Each `of_*` module looks at one part of the system and gives what it finds, in words. A new thing to
watch is one more function in a list `SOURCES`, a row in the table of /docs/overview, and a test
that brings the real condition about.
"""
