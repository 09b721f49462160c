# Is Claude Code found, signed in, and of a version that was tried?
quarterdeck doctor
