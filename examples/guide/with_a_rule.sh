# You are not asked about what a rule allows.
echo 'Shopping: bread, tea, apples' > notes.txt
quarterdeck run --agent sim --allow 'Edit(notes.txt)' 'Change tea to coffee in notes.txt'
