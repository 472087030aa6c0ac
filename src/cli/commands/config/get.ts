import type { Command } from 'commander';
import { FailureError } from '../../../shared/errors.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { type EntryName, entryColumns, entryName, entryNames, readEntry } from './entries.ts';

const shown = examples([
  ['petstock config get default-env'],
  ['petstock config get url --env production'],
  ['petstock config get low-stock --json', 'name, value and source as JSON'],
]);

const help = `
Names: ${entryNames.join(', ')};
\`url\` and \`key\` alone are those of the chosen environment. Of a key, only the last 4 characters are shown.
${shown}`;

export function defineGet(command: Command, run: Run): void {
  command
    .argument('<name>', 'a setting, url.<env> or key.<env>')
    .description(
      'Prints the value that counts: from the environment, the configuration file, or the default. Not set: exit 1.',
    )
    .addHelpText('after', help)
    .action(run((invocation, _options, name) => printEntry(invocation, name)));
}

async function printEntry(invocation: Invocation, text: string): Promise<void> {
  const { context, config, environment, results } = invocation;
  const entry = readEntry(entryName(text, environment.value), context.env, config);
  if (results.wantsJson) {
    await invocation.results.print({ columns: entryColumns, rows: [[{ ...entry }]], shape: 'one' });
  } else if (entry.value !== null) {
    await invocation.results.write(`${entry.value}\n`);
  }
  if (entry.value === null) throw notSet(entry.name);
}

function notSet(name: EntryName): FailureError {
  const [kind, environment] = name.split('.');
  const hint =
    kind === 'url'
      ? `petstock config set-url https://<your-store>/v1 --env ${environment}`
      : kind === 'key'
        ? `petstock config set-key --env ${environment}`
        : `petstock config set ${name} <value>`;
  return new FailureError(`${name} is not set`, { hint });
}
