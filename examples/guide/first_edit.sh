# Your first approved edit, on the simulator: no model, no login.
mkdir project && cd project
echo 'Shopping: bread, tea, appels' > notes.txt
quarterdeck run --agent sim 'Change appels to apples in notes.txt'
cat notes.txt
