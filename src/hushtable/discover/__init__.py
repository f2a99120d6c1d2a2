"""What identifies people in a table: the roles of its columns, scores of column sets, and searches over them."""
