"""How easily the people of a table can be found again."""
