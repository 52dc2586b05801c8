"""Messages generated from proto/keyroute/v1; never edited by hand."""
