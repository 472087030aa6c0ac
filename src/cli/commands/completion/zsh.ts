/** For zsh, by `source` or from a folder in `fpath`. */
export const zshScript = `#compdef petstock
# zsh completion for petstock
_petstock() {
  local -a lines head words_of_it plain open_ended
  local line value about current="\${(Q)PREFIX}"
  lines=("\${(@f)$(command petstock __complete zsh ":$current" "\${(@Q)words[2,CURRENT-1]}" 2>/dev/null)}")
  head=("\${(@ps:\\t:)lines[1]}")
  for line in "\${(@)lines[2,-1]}"; do
    value=\${line%%$'\\t'*} about=\${line#*$'\\t'}
    [[ -n $value ]] || continue
    if [[ -n $about ]]; then line="\${value//:/\\\\:}:$about"; else line=\${value//:/\\\\:}; fi
    if [[ $value == *= ]]; then open_ended+=("$line"); else plain+=("$line"); fi
  done
  local result=1
  if (( $#plain )); then _describe -V 'petstock' plain && result=0; fi
  if (( $#open_ended )); then _describe -V 'petstock' open_ended -S '' && result=0; fi
  if [[ $head[1] == files ]]; then
    if [[ -n $head[2] ]]; then compset -P "\${(b)head[2]}"; fi
    if [[ -n $head[3] ]]; then
      _files -g "(#i)*(\${head[3]// /|})(-.)" && result=0
    else
      _files && result=0
    fi
  fi
  return result
}

# From fpath the file is the function itself; by source it only has to be known.
if [[ $funcstack[1] == _petstock ]]; then
  _petstock "$@"
else
  compdef _petstock petstock
fi
`;
