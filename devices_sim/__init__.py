"""A fleet of simulated phones. They know the server by HTTP alone, as real ones would."""
