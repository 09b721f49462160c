# Is Claude Code installed, logged in, and of a tested version?
quarterdeck doctor
