"""What a person takes home of a run."""
