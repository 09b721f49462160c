# Approve a plan before anything is done.
quarterdeck run --agent sim 'plan a walk'
