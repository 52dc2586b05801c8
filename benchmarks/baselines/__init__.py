"""What planners are compared with: rivals behind their interface, for the simulator only."""
