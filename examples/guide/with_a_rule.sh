# What a rule allows is not asked about.
echo 'Shopping: bread, tea, apples' > notes.txt
quarterdeck run --agent sim --allow 'Edit(notes.txt)' 'Change tea to coffee in notes.txt'
