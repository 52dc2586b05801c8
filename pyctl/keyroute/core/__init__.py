"""The pure part: tables, statistics, key graphs, scores and the decision to move. No IO."""
