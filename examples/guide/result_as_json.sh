# The result as JSON.
quarterdeck run --agent sim --output json 'hello' > result.json
python -c 'import json; result = json.load(open("result.json")); print(result["subtype"], result["num_turns"])'
