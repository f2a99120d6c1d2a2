"""A release: what is published of a source, the claim on it, and what lies beside the file."""
