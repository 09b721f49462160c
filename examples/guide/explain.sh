# Why a call would be asked about, and the rule that allows exactly this.
quarterdeck policy explain 'Bash(rm -rf build)' || echo "exit code $?"
