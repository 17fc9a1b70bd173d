"""What runs on a device: the sandbox for its query, the bound on its contribution, and both."""
