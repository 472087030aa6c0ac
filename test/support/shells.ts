import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Home, type Program, programCommand, startProgram, temporaryHome } from './program.ts';

/** The start file of each shell. Ctrl-X Ctrl-L prints the command line between two marks, and clears it. */
const startFiles = {
  bash: `
    unset HISTFILE
    bind 'set bell-style none'; bind 'set completion-query-items 0'; bind 'set page-completions off'
    bind 'set enable-bracketed-paste off'
    show_line() { n=$((n + 1)); printf '\\n<<%s:%s:%s>>\\n' "$n" "$READLINE_LINE" "$n"; READLINE_LINE= READLINE_POINT=0; }
    bind -x '"\\C-x\\C-l": show_line'`,
  zsh: `
    autoload -U compinit && compinit -u -d "$HOME/dump"
    setopt no_beep no_auto_menu; unset zle_bracketed_paste; LISTMAX=1000; bindkey -e
    show_line() { zle -I; n=$((n + 1)); print -r -- "<<$n:$BUFFER:$n>>"; BUFFER=; }
    zle -N show_line; bindkey '^X^L' show_line`,
};

const commands = {
  bash: 'exec bash --noprofile --rcfile "$HOME/.zshrc" -i',
  zsh: 'exec zsh -d -i',
};

/**
 * Starts an interactive shell on a pseudo-terminal, with `petstock` in its PATH and the completion loaded. It is killed
 * when the test is finished.
 */
export async function openShell(name: 'bash' | 'zsh') {
  const home = temporaryHome();
  const folder = join(home.folder, 'work');
  mkdirSync(folder, { recursive: true });
  const bin = makeProgram(home);
  const lines = [
    `PATH="${bin}:$PATH"`,
    "PS1='> '",
    'n=0',
    `cd "${folder}"`,
    startFiles[name],
    `source <(petstock completion ${name})`,
    "echo rea''dy",
  ];
  writeFileSync(join(home.folder, '.zshrc'), lines.join('\n'));
  // No argument, since the first would replace `petstock`, which the shell finds in its PATH.
  const program = startProgram([], {
    home,
    terminal: 120,
    through: ['sh', '-c', commands[name], 'sh'],
    env: { ZDOTDIR: home.folder, SHELL: '/bin/sh' },
  });
  await program.until('stdout', 'ready');
  return shellOf(program, home, folder);
}

/** Makes a command `petstock` in the home's `bin` folder, and returns that folder. */
export function makeProgram(home: Home): string {
  const bin = join(home.folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const words = programCommand().map((word) => `'${word}'`);
  writeFileSync(join(bin, 'petstock'), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`);
  chmodSync(join(bin, 'petstock'), 0o755);
  return bin;
}

function shellOf(program: Program, home: Home, folder: string) {
  let count = 0;
  let seen = 0;
  const show = async (typed: string) => {
    count += 1;
    program.type(`${typed}\x18\x0c`);
    const text = await program.until('stdout', `:${count}>>`);
    const shown = text.slice(seen);
    seen = text.length;
    const line = new RegExp(`<<${count}:([\\s\\S]*?):${count}>>`).exec(shown)?.[1];
    if (line === undefined) throw new Error(`no line in ${JSON.stringify(shown)}`);
    return { line, shown };
  };
  return {
    home,
    folder,
    /**
     * Types the text, and TAB once or twice.
     * @returns the command line, which is then cleared
     */
    complete: async (text: string, tabs: 1 | 2 = 1) => (await show(`${text}${'\t'.repeat(tabs)}`)).line,
    /**
     * Types the text and TAB until the shell lists all candidates.
     * @returns what the terminal shows meanwhile
     */
    list: async (text: string) => (await show(`${text}\t\t\t`)).shown,
    /** Types the text and TAB, and runs the completed command line. */
    run: async (text: string) => {
      program.type(`${text}\t\r`);
      await show('');
    },
  };
}
