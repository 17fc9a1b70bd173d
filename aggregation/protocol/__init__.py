"""The language all parts share: streams, domains, windows, specs, tasks and updates."""
