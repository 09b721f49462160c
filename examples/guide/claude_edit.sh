# The same edit with Claude Code itself.
mkdir project && cd project
echo 'Shopping: bread, tea, appels' > notes.txt
quarterdeck run 'Correct the spelling in notes.txt'
cat notes.txt
