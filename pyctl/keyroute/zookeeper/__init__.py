"""ZooKeeper: the tree of ``docs/protocol.md``, read and written by the controller."""
