import type { Command } from 'commander';
import { UsageError } from '../../../shared/errors.ts';
import { type ShellName, shellNames } from '../../completion/table.ts';
import type { Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { bashScript, fishScript, powershellScript, zshScript } from './scripts.ts';

const scripts: Readonly<Record<ShellName, string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
};

const installation = `
Install, for every shell that starts from then on:
  bash, in ~/.bashrc
    source <(petstock completion bash)
  bash, where the package bash-completion is installed: loaded at the first TAB
    petstock completion bash > ~/.local/share/bash-completion/completions/petstock
  zsh, in ~/.zshrc, below compinit
    source <(petstock completion zsh)
  fish
    petstock completion fish > ~/.config/fish/completions/petstock.fish
  PowerShell, in the file that $PROFILE names
    petstock completion powershell | Out-String | Invoke-Expression
`;

export function defineCompletion(command: Command, run: Run): void {
  command
    .argument('<shell>', shellNames.join(', '))
    .description(
      'Prints a script with which a shell completes petstock at TAB: commands, options and their values, the latest runs and the ' +
        'pets in them, stores, sessions of stock-takes, files. A TAB reads what is on this machine; it sends nothing and needs ' +
        'no key. The script asks the petstock that is in the PATH, so it need not be generated again for a later version.',
    )
    .addHelpText(
      'after',
      installation +
        examples([
          ['petstock completion bash', 'look at it'],
          ['source <(petstock completion bash)', 'try it in this shell'],
        ]),
    )
    .action(
      run(async ({ results }, _options, shell) => {
        const name = shellNames.find((known) => known === shell);
        if (name === undefined) {
          throw new UsageError(
            `There is no completion for the shell "${shell}"; there is for ${shellNames.join(', ')}`,
            {
              hint: 'petstock completion --help',
            },
          );
        }
        await results.write(scripts[name]);
      }),
    );
}
