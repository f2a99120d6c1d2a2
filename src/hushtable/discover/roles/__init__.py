"""What is known about columns before their roles are decided: topics, words, looks, power."""
