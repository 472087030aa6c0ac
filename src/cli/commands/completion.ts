import { UsageError } from '../../shared/errors.ts';
import { type ShellName, shellNames } from '../completion/command-table.ts';
import { define, words } from './command.ts';

const installation = `
Install, for every shell that starts from then on:
  bash, in ~/.bashrc
    source <(petstock completion bash)
  bash, if the package bash-completion is installed: loaded at the first TAB
    petstock completion bash > ~/.local/share/bash-completion/completions/petstock
  zsh, in ~/.zshrc, below compinit
    source <(petstock completion zsh)
  fish
    petstock completion fish > ~/.config/fish/completions/petstock.fish
  PowerShell, in the file that $PROFILE names
    petstock completion powershell | Out-String | Invoke-Expression
`;

export const completionCommand = define({
  summary: 'print a shell completion script',
  group: 'Tools',
  formats: [],
  needsConfig: false,
  operands: { '<shell>': [shellNames.join(', '), words(shellNames)] },
  description:
    'Prints a script that lets a shell complete petstock commands when you press TAB. It also completes options and their values, the latest runs and their ' +
    'pets, stores and files. Completion reads only this machine: it sends nothing and needs ' +
    'no key. The script calls the petstock on your PATH, so it stays valid after an update.',
  before: installation,
  examples: [
    ['petstock completion bash', 'prints the script'],
    ['source <(petstock completion bash)', 'enables completion in this shell only'],
  ],
  run: async ({ results }, _options, shell) => {
    const name = shellNames.find((known) => known === shell);
    if (name === undefined) {
      throw new UsageError(`There is no completion for the shell "${shell}". The shells are ${shellNames.join(', ')}`, {
        hint: 'petstock completion --help',
      });
    }
    await results.write(scripts[name]);
  },
});

/** For bash. The words are passed to petstock as arguments, and its output is never evaluated. */
const bashScript = `# bash completion for petstock
_petstock() {
  # bash splits words at = and :, so parts without a blank between them are joined again.
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
  # The beginning of the word, up to the part that readline replaces.
  local before=\${current%"$word"}
  if [[ $word == [=:@] ]]; then before=$current; fi

  # Quotes are removed: petstock compares the words without them.
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
    # Only a list of values (TAB TAB) has descriptions. Otherwise, readline would insert them.
    if ((\${#values[@]} > 1)) && [[ $COMP_TYPE == 63 || $COMP_TYPE == 33 || $COMP_TYPE == 64 ]] && [[ -n \${abouts[i]} ]]; then
      printf -v line '%-*s  %s' "$width" "\${values[i]}" "\${abouts[i]}"
      # Padded to half the width of the terminal, so that each line has one value, and cut at its full width.
      printf -v line '%-*s' "$((\${COLUMNS:-80} / 2))" "\${line:0:\${COLUMNS:-80}-1}"
    fi
    COMPREPLY+=("$line")
  done
}

# Suggests the folders, and the files with one of the given endings, whose names begin with the typed text. Without
# endings, or if there are none, readline suggests all files. readline quotes the names.
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

# In bash 3.2, the version of macOS, a function can't suggest files.
if type compopt >/dev/null 2>&1; then
  complete -F _petstock petstock
else
  complete -o default -F _petstock petstock
fi
`;

/** For zsh, by `source` or from a folder in `fpath`. */
const zshScript = `#compdef petstock
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

# In fpath, the file is the function itself. After source, the function still has to be registered.
if [[ $funcstack[1] == _petstock ]]; then
  _petstock "$@"
else
  compdef _petstock petstock
fi
`;

/** For fish, which quotes the suggestions. */
const fishScript = `# fish completion for petstock
function __petstock_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (command petstock __complete fish ":$current" $words[2..-1] 2>/dev/null)
    set -l head (string split \\t -- $lines[1])
    if test "$head[1]" = files
        set -l typed (string sub -s (math (string length -- "$head[2]") + 1) -- "$current")
        set -l found (complete -C "__fish_command_without_completions $typed")
        set -l wanted
        for ending in (string split ' ' -- "$head[3]")
            test -n "$ending"; and set -a wanted (string match -ie -- "*$ending" $found)
        end
        test -n "$wanted"; and set found $wanted (string match -- '*/' $found)
        for file in $found
            printf '%s%s\\n' "$head[2]" $file
        end
    end
    test (count $lines) -gt 1; and printf '%s\\n' $lines[2..-1]
end
complete -c petstock -k -f -a '(__petstock_complete)'
`;

/** For Windows PowerShell 5.1 and PowerShell 7. */
const powershellScript = `# PowerShell completion for petstock
Register-ArgumentCompleter -Native -CommandName petstock -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements |
        Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { $_.Extent.Text.Trim('"', "'") })
    $lines = @(& petstock __complete powershell ":$wordToComplete" @words 2>$null)
    # If this returns nothing, PowerShell suggests files.
    if ($lines.Count -eq 0) { return }
    if ($lines.Count -eq 1) { if ($lines[0].StartsWith('files')) { return } else { return '' } }
    $lines | Select-Object -Skip 1 | ForEach-Object {
        $value, $about = $_.Split([char]9, 2)
        if (-not $about) { $about = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
    }
}
`;

const scripts: Readonly<Record<ShellName, string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
};
