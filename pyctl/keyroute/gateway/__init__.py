"""The gateway: what a running Spark driver answers about its queries."""
