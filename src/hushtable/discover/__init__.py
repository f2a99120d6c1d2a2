"""What identifies people in a table: the roles of its columns."""
