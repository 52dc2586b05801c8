"""The controller: sees a query's world, decides, publishes, and carries changes to their end."""
