"""The durable log of many sessions."""
