"""Tables come in and go out: dataframes, files of every kind, batch by batch, and drafts of what is written."""
