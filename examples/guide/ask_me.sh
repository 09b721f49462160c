# A question of the model is answered in the terminal.
quarterdeck run --agent sim 'ask me something'
