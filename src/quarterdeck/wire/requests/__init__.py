"""Every request of the host to the CLI; ``tables`` has all of them, and those of the CLI, by subtype.

Nothing is imported here: a program needs few of these classes. ``quarterdeck.wire`` has them all by name.
"""
