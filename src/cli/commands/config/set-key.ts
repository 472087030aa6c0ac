import type { Command } from 'commander';
import { configFile } from '../../../settings/config-file.ts';
import { maskKey, parseKey } from '../../../settings/keys.ts';
import { describeKeyShadow } from '../../../settings/resolve.ts';
import { setKey } from '../../../settings/write-config.ts';
import { UsageError } from '../../../shared/errors.ts';
import { singleLine } from '../../../shared/sanitize.ts';
import type { GlobalOptions, Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { readKeyText } from './read-key.ts';
import { remoteEnvironment } from './remote.ts';

const help = examples([
  ['petstock config set-key --env staging', 'asks, and shows nothing of what you type'],
  ['petstock config set-key --env production < key.txt', 'takes all of stdin where that is not a terminal'],
  ['pass show petstock | petstock config set-key -e production'],
]);

export function defineSetKey(command: Command, run: Run): void {
  const store = run(storeKey);
  command
    .description(
      'Stores the API key of one environment, in a file that only you can read. It is asked for on a terminal and read from ' +
        'stdin elsewhere, never taken as an argument: the command line is kept in the history of the shell and can be seen ' +
        'by every process.',
    )
    .addHelpText('after', help)
    // Everything unexpected may be a key. Commander would repeat it in its message, so we look ourselves.
    .allowExcessArguments(true)
    .allowUnknownOption(true)
    .action(async (...args: unknown[]) => {
      if (command.args.length > 0) throw keyAsArgument(command);
      await store(...args);
    });
}

async function storeKey(invocation: Invocation): Promise<void> {
  const { context, environment } = invocation;
  const name = remoteEnvironment(environment.value, 'key');
  const parsed = parseKey(await readKeyText(context, `API key for ${name}`));
  if (!parsed.ok) {
    throw new UsageError(`Nothing was stored: ${parsed.fault}.`, { hint: `petstock config set-key --env ${name}` });
  }
  await setKey(context.folders.config, name, parsed.value);
  await invocation.messages.note(
    `Stored the key ${maskKey(parsed.value)} of ${name} in ${configFile(context.folders.config)}`,
  );
  const shadow = describeKeyShadow(name, context.env);
  if (shadow !== undefined) await invocation.messages.warn(shadow);
}

function keyAsArgument(command: Command): UsageError {
  const { env } = command.optsWithGlobals<GlobalOptions>();
  return new UsageError(
    'config set-key takes no argument and no option of its own: a key on the command line stays in the history of the ' +
      'shell. Nothing was stored. If that was a real key, remove it there.',
    { hint: env === undefined ? 'petstock config set-key' : `petstock config set-key --env ${singleLine(env)}` },
  );
}
