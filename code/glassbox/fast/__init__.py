"""Fast versions that are longer than the code they replace."""
