# Your own program, on the simulator.
export CLAUDE_BIN="$(python -c 'from quarterdeck.testing.sim import executable; print(executable())')"
python hello.py
