import type { Command } from 'commander';
import { configFile } from '../../../settings/config-file.ts';
import { maskKey, parseKey } from '../../../settings/keys.ts';
import { describeKeyShadow, describeUrlShadow, resolveBaseUrl } from '../../../settings/resolve.ts';
import { setKey, setKeyAndUrl } from '../../../settings/write-config.ts';
import { UsageError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import type { GlobalOptions, Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { readKeyText } from './read-key.ts';
import { remoteEnvironment, requireBaseUrl } from './remote.ts';

interface SetKeyOptions {
  readonly url?: string;
}

const help = examples([
  ['petstock config set-key --env staging', 'asks, and shows nothing of what you type'],
  ['petstock config set-key --env production < key.txt', 'takes all of stdin where that is not a terminal'],
  ['petstock config set-key -e production --url https://stock.example.com/v1', 'a key and the address it belongs to'],
  ['pass show petstock | petstock config set-key -e production'],
]);

export function defineSetKey(command: Command, run: Run): void {
  const store = run<SetKeyOptions>(storeKey);
  command
    .description(
      'Stores the API key of one environment, in a file that only you can read. It is asked for on a terminal and read from ' +
        'stdin elsewhere, never taken as an argument: the command line is kept in the history of the shell and can be seen ' +
        'by every process. The key is sent to the address in force when it is stored, and to no other origin.',
    )
    .option('--url <url>', 'store this address too: it is the one that the key belongs to')
    .addHelpText('after', help)
    // Everything unexpected may be a key. Commander would repeat it in its message, so we look ourselves.
    .allowExcessArguments(true)
    .allowUnknownOption(true)
    .action(async (...args: unknown[]) => {
      if (command.args.length > 0) throw keyAsArgument(command);
      await store(...args);
    });
}

async function storeKey(invocation: Invocation, { url }: SetKeyOptions): Promise<void> {
  const { context, environment } = invocation;
  const name = remoteEnvironment(environment.value, 'key');
  const address = url === undefined ? undefined : requireBaseUrl(url, name);
  const parsed = parseKey(await readKeyText(context, `API key for ${name}`));
  if (!parsed.ok) {
    throw new UsageError(`Nothing was stored: ${parsed.fault}.`, { hint: `petstock config set-key --env ${name}` });
  }
  const { config: folder } = context.folders;
  const inForce = address ?? resolveBaseUrl(name, context.env, invocation.config)?.value;
  if (address === undefined) await setKey(folder, name, parsed.value, inForce);
  else await setKeyAndUrl(folder, name, parsed.value, address);
  const whose = inForce === undefined ? '' : `, for ${new URL(inForce).origin}`;
  await invocation.messages.note(`Stored the key ${maskKey(parsed.value)} of ${name} in ${configFile(folder)}${whose}`);
  const urlShadow = address === undefined ? undefined : describeUrlShadow(name, context.env);
  if (urlShadow !== undefined) await invocation.messages.warn(urlShadow);
  const shadow = describeKeyShadow(name, context.env);
  if (shadow !== undefined) await invocation.messages.warn(shadow);
}

function keyAsArgument(command: Command): UsageError {
  const { env } = command.optsWithGlobals<GlobalOptions>();
  return new UsageError(
    'config set-key takes no argument and no option of its own: a key on the command line stays in the history of the ' +
      'shell. Nothing was stored. If that was a real key, remove it there.',
    { hint: env === undefined ? 'petstock config set-key' : `petstock config set-key --env ${shellWord(env)}` },
  );
}
