"""The Data tab, and the preview of an upload."""
