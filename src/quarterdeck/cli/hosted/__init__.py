"""What the commands for a running host share: where it is, how sessions are named, how things are shown.

Each command asks a ``RemoteHost``, so it works the same on this machine and over a network.
"""
