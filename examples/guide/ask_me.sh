# Answer a question of the model in the terminal.
quarterdeck run --agent sim 'ask me something'
