"""The Masks tab: which positions a query can attend to."""
