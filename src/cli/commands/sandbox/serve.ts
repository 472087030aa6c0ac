import { once } from 'node:events';
import { counted } from '../../../inventory/items.ts';
import type { RunningService } from '../../../service/index.ts';
import { createFileAtomically } from '../../../shared/atomic-file.ts';
import { InterruptedError, UsageError } from '../../../shared/errors.ts';
import { readErrorReason } from '../../../shared/file-error.ts';
import { petstock, shellWord } from '../../../shared/hint.ts';
import {
  type PrivateFile,
  privateLocation,
  readPrivateFile,
  requirePrivateFile,
} from '../../../shared/private-files.ts';
import { version } from '../../../shared/version.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import type { Messages } from '../../invocation/messages.ts';
import { ownKey, startSandbox, storageError, withUsageErrors } from '../../sandbox.ts';
import { define } from '../define.ts';
import { logWriter } from './log-writer.ts';
import { flagOf, optionNames, readSecret, sandboxOptions, type Values } from './sandbox-options.ts';
import { logs, serveValues, serviceOptionsOf } from './serve-values.ts';
import { readStockFile } from './stock-file.ts';
import { storageName } from './storage-access.ts';

/** How long to wait for a database that is starting, in seconds. */
const maxStartSeconds = 30;

export const defineServe = define({
  formats: ['json', 'ndjson'],
  logs,
  description:
    'Serves the sandbox on a port, for any client, until Ctrl-C. The options apply to this server only: with options for the stock, key, plan, limits or bans it works in memory, unless --file or --database is given. Each option is also a variable, PETSTOCK_SERVE_<NAME>.',
  options: sandboxOptions(optionNames),
  examples: [
    ['petstock sandbox serve'],
    ['petstock sandbox serve --port 0 --file :memory: --json', 'for a script: one line with url and key'],
    ['petstock sandbox serve --limit-minute 20 --window-seconds 4', 'to try out a rate limit'],
    ['petstock sandbox serve --import stock.csv --cors http://localhost:5173', 'for your own web page'],
  ],
  action: async (invocation, flags: Readonly<Record<string, unknown>>) => {
    const { context } = invocation;
    const warnings: string[] = [];
    const values = serveValues(flags, context.env, (line) => warnings.push(line));
    const teller = tellerFor(invocation, values);
    for (const warning of warnings) await teller.warn(`${warning}.`);
    await requireExposeOption(values);
    const options = await serviceOptions(invocation, values, teller);
    const service = await startSandbox(context, options);
    try {
      const storage = values.database === undefined ? ['--file', options.file ?? ''] : ['--database', '<url>'];
      if (values.import !== undefined && !service.isStorageNew) {
        await teller.warn(
          `The existing stock is kept, because --import only fills a new sandbox. To replace it: ${petstock`sandbox import ${values.import} ${storage}`}`,
        );
      }
      if (service.isKeyRevoked) {
        await teller.warn(
          `The key${values.keyFile === undefined ? '' : ` in ${values.keyFile}`} was revoked. Requests with it get a 401`,
        );
      }
      for (const id of service.replacedKeys) {
        await teller.warn(
          `${values.keyFile} contained another key before, which is still valid. To revoke it: ${petstock`sandbox keys revoke ${id} ${storage}`}`,
        );
      }
      // Without a certificate, SIGHUP has its usual meaning: the terminal was closed, so the server ends.
      const hangup = new Promise<'hangup'>((resolve) => {
        context.onHangup(options.tls === undefined ? () => resolve('hangup') : () => void reload(teller, service));
      });
      await announce(invocation, service, values, teller);
      teller.tell?.('info', 'Started', { version, store: nameOfServed(values, options.file), url: service.url });
      const end = context.interrupted.aborted || (await Promise.race([once(context.interrupted, 'abort'), hangup]));
      teller.tell?.('info', 'Draining', { seconds: values.drain ?? 0 });
      service.drain();
      await context.clock.sleep((values.drain ?? 0) * 1000);
      if (end === 'hangup') {
        throw new InterruptedError('The terminal was closed, or SIGHUP was sent', { signal: 'SIGHUP' });
      }
    } finally {
      await service.close();
      teller.tell?.('info', 'Stopped');
    }
  },
});

/** Returns the name of the storage, without a password. */
function nameOfServed({ database }: Values, file: string | undefined): string {
  return database === undefined ? (file ?? "the sandbox's own") : storageName({ database });
}

/** Reports events to the user; with `--log`, as JSON, so that stderr is JSON from its first line on. */
interface Teller extends Pick<Messages, 'note' | 'warn'> {
  /** Writes an event to the log. Absent without `--log`. */
  tell?(level: string, message: string, fields?: object): void;
  /** Writes a log entry of the service unchanged. Absent without `--log`. */
  entry?(entry: object): void;
}

function tellerFor({ context: { clock, stderr }, globals, messages }: Invocation, { log }: Values): Teller {
  if (log !== true) return messages;
  const entry = logWriter(stderr, () => clock.now());
  const tell: Teller['tell'] = (level, message, fields = {}) =>
    entry({ time: new Date(clock.now()).toISOString(), level, message, ...fields });
  return {
    entry,
    tell,
    note: async (line) => {
      if (globals.quiet !== true) tell('info', line);
    },
    warn: async (line) => tell('warning', line),
  };
}

async function serviceOptions({ context }: Invocation, values: Values, teller: Teller) {
  const { clock, interrupted } = context;
  const parsed = serviceOptionsOf(values);
  for (const file of [values.tlsCert, values.tlsKey])
    if (file !== undefined) withUsageErrors(() => requirePrivateFile(privateLocation(file)));
  if (parsed.file !== undefined) await requirePets(parsed.file, parsed.pets);
  const key = values.key ?? (await keyOfFile(values.keyFile, teller));
  return {
    ...parsed,
    startTimeout: {
      seconds: maxStartSeconds,
      sleep: (ms: number) => clock.sleep(ms, interrupted),
      waits: (reason: string) => void teller.note(`Waiting up to ${maxStartSeconds} s for the database: ${reason}.`),
    },
    log: teller.entry,
    tell: teller.tell,
    ...(key !== undefined && { key, isKeyOfFile: values.keyFile !== undefined }),
    ...(values.import !== undefined && { stock: await readStockFile(values.import, context) }),
  };
}

/**
 * Returns the key in a file; undefined if no file is given. Creates the file if it is missing. Warns if others could
 * read it.
 * @throws UsageError for an invalid key, without repeating it, or for a file that can't be used
 */
async function keyOfFile(file: string | undefined, teller: Teller): Promise<string | undefined> {
  if (file === undefined) return undefined;
  let found = readKey(file);
  if (found === undefined) {
    const { generateKey } = await import('../../../service/index.ts');
    await createFileAtomically(file, `${generateKey()}\n`);
    found = readKey(file);
  }
  if (found?.warning !== undefined) await teller.warn(`${found.warning}.`);
  return found && readSecret(found.text.trim(), `The key in ${file}`);
}

function readKey(file: string): PrivateFile | undefined {
  try {
    return withUsageErrors(() => readPrivateFile(file));
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`The key in ${file} can't be read: ${readErrorReason(cause)}`, { cause });
  }
}

/**
 * Checks that the file has as many pets as `--pets` requests, because a stock is created only once.
 * @throws UsageError if the numbers differ
 */
async function requirePets(file: string, pets: number | undefined): Promise<void> {
  const { inspectDatabase } = await import('../../../service/index.ts');
  let found: ReturnType<typeof inspectDatabase> = null;
  try {
    if (pets !== undefined) found = inspectDatabase(file);
  } catch (cause) {
    throw await storageError(cause, { file });
  }
  if (found === null || found.pets === pets) return;
  throw new UsageError(
    `${file} already has ${counted(found.pets, 'pet')}, and --pets ${pets} is only for a new file. Remove the file, or choose another one`,
    { hint: petstock`sandbox serve --file :memory: --pets ${pets ?? []}` },
  );
}

/**
 * Prints the address. stderr shows the key and the token only on a terminal and without `--log`, because it may be
 * stored. JSON on stdout always has them. A key in a file is never printed.
 */
async function announce({ context, results }: Invocation, service: RunningService, values: Values, teller: Teller) {
  const { url, adminUrl: admin, adminToken, key } = service;
  const keyFile = values.keyFile;
  await teller.note(`Serving at ${url}. Ctrl-C ends it.`);
  if (context.stderr.isTerminal && values.log !== true) {
    await teller.note('To use it from another terminal:');
    await teller.note(`  export PETSTOCK_URL_STAGING=${url}`);
    const shown = keyFile === undefined ? shellWord(key) : `"$(cat ${shellWord(keyFile)})"`;
    await teller.note(`  export PETSTOCK_API_KEY_STAGING=${shown}`);
    if (admin !== null) await teller.note(`The administration address is ${admin}. Its token is ${adminToken}.`);
  } else {
    await teller.note(whereKeyIs(context.folders.state, key, values));
    if (admin !== null)
      await teller.note(
        `The administration address is ${admin}. Its token is that of --admin-token. Without that option, --json shows the token.`,
      );
  }
  if (!results.wantsJson) return;
  await results.write(`${JSON.stringify({ url, key: keyFile === undefined ? key : null, admin, adminToken })}\n`);
}

function whereKeyIs(stateFolder: string, key: string, values: Values): string {
  if (values.keyFile !== undefined) return `The key is in ${values.keyFile}.`;
  if (values.key !== undefined) return 'The key is the one you gave.';
  return ownKey(stateFolder) === key
    ? "The key is the sandbox's own. To show it: petstock sandbox info --json"
    : 'The key is shown with --json.';
}

async function reload(teller: Teller, service: RunningService): Promise<void> {
  try {
    service.reloadTls();
    await teller.note('The certificate was reloaded.');
  } catch (error) {
    await teller.warn(`${(error as Error).message}. The previous one stays in use.`);
  }
}

/**
 * Checks that `--expose` is given if other machines can reach the server.
 * @throws UsageError if it is missing
 */
async function requireExposeOption(values: Values): Promise<void> {
  const { isLoopback } = await import('../../../service/index.ts');
  if (values.expose === true) return;
  for (const option of ['host', 'adminHost'] as const) {
    const host = values[option];
    if (host === undefined || isLoopback(host)) continue;
    const how = values.tlsCert === undefined ? ', and keys would be sent over plain HTTP' : '';
    throw new UsageError(`Other machines could reach the stock at ${host}${how}`, {
      hint: petstock`sandbox serve ${flagOf(option)} ${host} --expose`,
    });
  }
}
