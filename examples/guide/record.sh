# Record a session and show it.
quarterdeck run --agent sim --record talk.ndjson --output text 'hello'
quarterdeck trace talk.ndjson
