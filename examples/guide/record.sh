# A conversation recorded, shown, and played again as if it were the CLI.
quarterdeck run --agent sim --record talk.ndjson --output text 'hello'
quarterdeck trace talk.ndjson
