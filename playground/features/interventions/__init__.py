"""The Interventions tab: heads switched off, another memory, one row edited."""
