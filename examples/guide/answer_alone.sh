# Only the answer, in a file or a variable.
quarterdeck run --agent sim --output text 'hello' > answer.txt
wc -l < answer.txt
