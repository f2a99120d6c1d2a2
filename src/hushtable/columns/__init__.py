"""What a column is: its kind and values, how cells are spelled, and the texts that releases publish."""
