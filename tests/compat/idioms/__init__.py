"""Small programs in the manner of people's code, for either package: each prints what it saw."""
