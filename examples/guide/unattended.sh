# Unattended: what no rule allows is denied.
echo 'Shopping: bread, tea, apples' > notes.txt
quarterdeck run --agent sim --unattended deny 'Change tea to coffee in notes.txt'
