"""Local recoding: classes of many rows, made better from several starts."""
