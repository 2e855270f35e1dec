"""Fast versions that are longer than what they stand in for."""
