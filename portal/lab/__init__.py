"""Studies on made-up data: which mechanism fits a task, with which parameters, and who is reached."""
