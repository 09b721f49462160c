"""The lab: test and debug a Claude Code program with no model and no network.

``sim``        a ``claude`` that is not a model            ``model``      a scripted model for the real CLI
``tap``        records any program and its ``claude``       ``trace``      shows a recording to a person
``replay``     acts as the CLI of a recording               ``faults``     delays, cuts, garbage, sudden deaths
``install``    any version of the real CLI                  ``conformance`` our client against all of them
``kit``        all of it ready for tests; ``pytest_plugin`` hands it out as fixtures

Nothing is imported here: the tap must start in milliseconds.
"""
