"""Minimal generalization: cells recoded at the least loss, exactly or by a genetic search."""
