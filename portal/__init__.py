"""The shell around the aggregation: people, pages, the API, jobs and the database."""
