import type { Command } from 'commander';
import { FailureError } from '../../../shared/errors.ts';
import { whereOptions } from '../../../shared/where.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { type EntryRef, entryColumns, entryName, entryNames, readEntry } from './entries.ts';

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
      'Prints the value in effect: from the environment, the configuration file, or the default. Not set: exit 1.',
    )
    .addHelpText('after', help)
    .action(run((invocation, _options, name) => printEntry(invocation, name)));
}

async function printEntry(invocation: Invocation, text: string): Promise<void> {
  const { context, configFile, environment, store, results } = invocation;
  const ref = { store: store?.value, name: entryName(text, environment.value) };
  const entry = readEntry(ref, context.env, configFile);
  if (results.wantsJson) {
    await invocation.results.print({ columns: entryColumns, rows: [[{ ...entry }]], shape: 'one' });
  } else if (entry.value !== null) {
    await invocation.results.write(`${entry.value}\n`);
  }
  if (entry.value === null) throw notSet(ref);
}

function notSet({ store, name }: EntryRef): FailureError {
  const [kind, env = ''] = name.split('.');
  const where = whereOptions({ store, env });
  const hint =
    kind === 'url'
      ? `petstock config set-url https://<your-store>/v1 ${where}`
      : kind === 'key'
        ? `petstock config set-key ${where}`
        : name === 'state-url'
          ? 'petstock config set state-url'
          : `petstock config set ${name} <value>`;
  return new FailureError(`${store === undefined ? '' : `${store}/`}${name} is not set`, { hint });
}
