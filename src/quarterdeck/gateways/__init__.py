"""Faces of a host, one translation each of its operations and events. They decide nothing and keep nothing."""
