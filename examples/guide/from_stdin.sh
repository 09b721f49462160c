# A prompt with standard input appended.
printf 'one\ntwo\n' | quarterdeck run --agent sim --output text - 'count these lines'
