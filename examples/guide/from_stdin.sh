# A prompt with standard input behind it.
printf 'one\ntwo\n' | quarterdeck run --agent sim --output text - 'count these lines'
