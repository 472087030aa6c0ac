/** For bash. The words go over to petstock as arguments, and what comes back is never evaluated. */
export const bashScript = `# bash completion for petstock
_petstock() {
  # bash cuts words at = and :, so they are put together again as far as there is no blank between them.
  local rest=\${COMP_LINE:0:COMP_POINT} words=() word= trimmed= i
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    trimmed=\${rest#"\${rest%%[![:space:]]*}"}
    if [[ $i -eq 0 || $trimmed != "$rest" ]]; then words+=(""); fi
    if [[ $i -eq $COMP_CWORD ]]; then word=$trimmed; fi
    words[\${#words[@]}-1]+=$word
    rest=\${trimmed#"$word"}
  done
  local current=\${words[\${#words[@]}-1]}
  # What is before the part of the word that readline replaces.
  local before=\${current%"$word"}
  if [[ $word == [=:@] ]]; then before=$current; fi

  # What is between quotes is the same word without them.
  local asked=(":$current" "\${words[@]:1:\${#words[@]}-2}")
  local line kind= prefix= endings= value= about= width=0 values=() abouts=()
  COMPREPLY=()
  while IFS= read -r line; do
    value=\${line%%$'\\t'*} about=\${line#*$'\\t'}
    if [[ -z $kind ]]; then
      kind=$value prefix=\${about%%$'\\t'*} endings=\${about#*$'\\t'}
      continue
    fi
    value=\${value#"$before"}
    values+=("$value") abouts+=("$about")
    if ((\${#value} > width)); then width=\${#value}; fi
  done < <(command petstock __complete bash "\${asked[@]//[\\"\\']/}" 2>/dev/null)

  if [[ $kind == files ]]; then
    COMPREPLY=("\${values[@]}")
    _petstock_files "\${current#"$prefix"}" "\${prefix#"$before"}" $endings
    return
  fi
  compopt -o nosort 2>/dev/null
  if ((\${#values[@]} == 1)) && [[ \${values[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
  for ((i = 0; i < \${#values[@]}; i++)); do
    line=\${values[i]}
    # Only where several are listed (TAB TAB): what is typed for you is never more than what they have in common.
    if ((\${#values[@]} > 1)) && [[ $COMP_TYPE == 63 || $COMP_TYPE == 33 || $COMP_TYPE == 64 ]] && [[ -n \${abouts[i]} ]]; then
      printf -v line '%-*s  %s' "$width" "\${values[i]}" "\${abouts[i]}"
      # Too wide for a second one beside it, and not wider than the terminal.
      printf -v line '%-*s' "$((\${COLUMNS:-80} / 2))" "\${line:0:\${COLUMNS:-80}-1}"
    fi
    COMPREPLY+=("$line")
  done
}

# Files by the beginning of their name; those with one of the endings, where there are any. readline quotes them.
_petstock_files() {
  local typed=$1 prefix=$2 file ending
  shift 2
  compopt -o filenames 2>/dev/null || return
  if [[ $typed == [\\"\\'~\\$]* || $typed == *\\\\* || -n $prefix ]]; then
    compopt -o default
    return
  fi
  while IFS= read -r file; do
    if [[ $# -gt 0 && -d $file ]]; then COMPREPLY+=("$file"); fi
    for ending in "$@"; do
      if [[ ! -d $file && \${file,,} == *"$ending" ]]; then COMPREPLY+=("$file"); fi
    done
  done < <(compgen -f -- "$typed")
  if ((\${#COMPREPLY[@]} == 0)); then compopt -o default; fi
}

# bash 3.2, as macOS has it, can't be asked for files by a function.
if type compopt >/dev/null 2>&1; then
  complete -F _petstock petstock
else
  complete -o default -F _petstock petstock
fi
`;
