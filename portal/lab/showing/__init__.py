"""What a study's result looks like: figures for its page, cells for exports and comparisons."""
