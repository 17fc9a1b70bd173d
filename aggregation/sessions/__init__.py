"""Sessions: updates opened, checked and summed in one process's memory, which leave it once."""
