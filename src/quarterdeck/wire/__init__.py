"""The protocol as data: typed messages, and the NDJSON codec."""
