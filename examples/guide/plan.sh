# A plan is approved before anything is done.
quarterdeck run --agent sim 'plan a walk'
