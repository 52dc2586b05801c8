"""Real servers for the integration tests, and the words the tests are written in."""
