# Rules in a file, in the format of Claude Code's own settings.
echo 'Shopping: bread, tea, apples' > notes.txt
cat > rules.json <<'END'
{"permissions": {"allow": ["Edit(notes.txt)"], "deny": ["Bash(rm:*)"]}}
END
quarterdeck policy check rules.json
quarterdeck run --agent sim --policy rules.json 'Change tea to coffee in notes.txt'
