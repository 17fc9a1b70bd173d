"""The heart of Mayfly: plain Python, no web framework, no job queue, no database."""
