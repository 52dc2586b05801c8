"""Programs that the tests run in processes of their own, and kill."""
