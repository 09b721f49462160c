# Why you would be asked about a call, and the rule that would allow exactly this call.
quarterdeck policy explain 'Bash(rm -rf build)' || echo "exit code $?"
