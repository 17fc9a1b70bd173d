"""Studies on made-up data: which mechanism fits a task, its parameters, and who is reached."""
