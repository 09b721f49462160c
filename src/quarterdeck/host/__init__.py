"""Many sessions on one durable log. Two tables say what every face has to know.

``operations`` what can be asked of a host · ``events`` what it tells · ``requests`` and ``resources`` what operations
take and return.
"""
