"""Tables that are not in memory: collapsed to distinct rows, published batch by batch, verified as written."""
