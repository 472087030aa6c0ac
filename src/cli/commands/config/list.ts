import type { Command } from 'commander';
import { describeShadows } from '../../../settings/resolve.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { type Entry, type EntryName, entryColumns, entryNames, readEntry } from './entries.ts';

const help = examples([
  ['petstock config list'],
  ["petstock config list --json | jq -r '.[] | select(.value == null).name'"],
]);

export function defineList(command: Command, run: Run): void {
  command
    .description(
      'Shows each setting, URL and key, and where it comes from: an environment variable, the configuration file or the ' +
        'default. Of a key, only the last 4 characters are shown. An environment variable that hides a stored key or URL is ' +
        'named on stderr.',
    )
    .addHelpText('after', help)
    .action(run(listEntries));
}

async function listEntries(invocation: Invocation): Promise<void> {
  const { context, config } = invocation;
  const warnings = describeShadows(context.env, config);
  const rows = entryNames.map((name) => ({ ...readOrWarn(name, invocation, warnings) }));
  for (const warning of new Set(warnings)) await invocation.messages.warn(warning);
  await invocation.results.print({ columns: entryColumns, rows: [rows], shape: 'list', isFacts: true });
}

/** A variable that cannot be used is worth a warning here, and no reason to hide the other values. */
function readOrWarn(name: EntryName, { context, config }: Invocation, warnings: string[]): Entry {
  try {
    return readEntry(name, context.env, config);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    warnings.push(error.message);
    return { name, value: null, source: 'cannot be used' };
  }
}
