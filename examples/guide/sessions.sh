# Sessions are stored: find, export and resume them.
quarterdeck run --agent sim --output text 'hello' > /dev/null
quarterdeck sessions list --agent sim
quarterdeck sessions search --agent sim 'the protocol is real'
quarterdeck sessions export --agent sim hello > talk.md
quarterdeck run --agent sim --continue --output text 'What did I say first?'
