import type { Command } from 'commander';
import { describeShadows } from '../../../settings/resolve.ts';
import { configOf } from '../../../settings/stores.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { type Entry, type EntryRef, entryColumns, entryNames, listedEntries, readEntry } from './entries.ts';

const help = examples([
  ['petstock config list'],
  ["petstock config list --json | jq -r '.[] | select(.value == null).name'"],
]);

export function defineList(command: Command, run: Run): void {
  command
    .description(
      'Shows each setting, URL and key, of all stores unless --store names one, and where it comes from: an environment ' +
        'variable, the configuration file or the default. Of a key, only the last 4 characters are shown. An environment variable that hides a stored key or URL is ' +
        'named on stderr.',
    )
    .addHelpText('after', help)
    .action(run(listEntries));
}

async function listEntries(invocation: Invocation): Promise<void> {
  const { context, configFile, globals, store } = invocation;
  const shown =
    globals.store === undefined ? listedEntries(configFile) : entryNames.map((name) => ({ store: store?.value, name }));
  const warnings = [...new Set(shown.map((entry) => entry.store))].flatMap((name) =>
    describeShadows(context.env, configOf(configFile, name)),
  );
  const rows = shown.map((entry) => ({ ...readOrWarn(entry, invocation, warnings) }));
  for (const warning of new Set(warnings)) await invocation.messages.warn(warning);
  await invocation.results.print({ columns: entryColumns, rows: [rows], shape: 'list', isFacts: true });
}

/** A variable that cannot be used is worth a warning here, and no reason to hide the other values. */
function readOrWarn(ref: EntryRef, { context, configFile }: Invocation, warnings: string[]): Entry {
  try {
    return readEntry(ref, context.env, configFile);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    warnings.push(error.message);
    return { name: ref.name, value: null, source: 'cannot be used' };
  }
}
