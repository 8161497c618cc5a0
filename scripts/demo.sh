#!/usr/bin/env bash
# Continues a prompt with a real checkpoint, then shows that the logits do not depend on how the prompt was cut.
#   scripts/demo.sh PROGRAM (gemma|smollm2|PATH)        `make demo`, `make demo MODEL=...`
# Exit codes: 1 the hashes differ, else those of the program or of scripts/fetch_models.py.
set -euo pipefail

program=$1
model=$2
prompt="The history of the decimal system begins with"

case "$model" in
  gemma) scripts/fetch_models.py gemma; path=models/gemma-3-270m-q4_k_m.gguf ;;
  smollm2) scripts/fetch_models.py smollm2; path=models/SmolLM2-135M-Instruct.Q4_1.gguf ;;
  *) path=$model ;;
esac

messages=$(mktemp)
trap 'rm -f "$messages"' EXIT

# Whether this version knows the checkpoint's architecture is the program's to say.
code=0
"$program" inspect "$path" >/dev/null 2>"$messages" || code=$?
if [[ $code -ne 0 ]]; then
  cat "$messages" >&2
  if grep -qi 'architecture.*llama' "$messages"; then
    echo "demo: SmolLM2 is of the Llama family, which comes in a later version; make demo runs Gemma 3 270M" >&2
  fi
  exit "$code"
fi

printf '\n> %s\n\n' "$prompt"
"$program" run "$path" -p "$prompt" -n 48 --temp 0
printf '\n'

# The SHA-256 of the logits of every position of the prompt.
logits_hash() {
  if ! "$program" logits "$path" --precision highest -p "$prompt" --chunk "$1" 2>"$messages"; then
    cat "$messages" >&2
    return 1
  fi
}
by_token=$(logits_hash 1)
whole=$(logits_hash all)
verdict=equal
[[ -n "$by_token" && "$by_token" == "$whole" ]] || verdict=DIFFERENT
echo "logits, prompt taken token by token (--chunk 1):   $by_token"
echo "logits, prompt taken whole          (--chunk all): $whole  $verdict"
if [[ $verdict != equal ]]; then
  echo "demo: the hashes differ: this is a bug, please report it with the lines above" >&2
  exit 1
fi
