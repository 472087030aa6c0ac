import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { RunningService, ServiceOptions } from '../service/index.ts';
import { createFileAtomically } from '../shared/atomic-file.ts';
import { FailureError, UnavailableError, UsageError } from '../shared/errors.ts';
import { petstock } from '../shared/hint.ts';
import { makePrivateFolder, privateDatabase, readPrivateFile } from '../shared/private-files.ts';
import type { Context } from './context.ts';

export const sandboxPlan = 'business';

/**
 * Starts the sandbox, for one command or with the given options. The plan of a stored key changes only if the
 * options set a plan or limits, because a command must not change the limits of a running `sandbox serve`.
 * @throws UsageError for an invalid fault, port, address or file; UnavailableError if the database does not respond;
 * FailureError if the sandbox's folder or key can't be used
 */
export async function startSandbox(context: Context, options: Partial<ServiceOptions> = {}): Promise<RunningService> {
  const { FaultSpecError, startService, TlsError } = await import('../service/index.ts');
  const own = await openSandbox(context.folders.state);
  const { file = own.file, database, clock = context.clock } = options;
  // A server in memory is independent of the sandbox, so the service creates a key for it.
  const key = options.key ?? (file === ':memory:' ? undefined : own.key);
  const isFile = database === undefined && file !== ':memory:';
  const folder = dirname(resolve(file));
  if (isFile && !existsSync(folder)) makePrivateFolder(folder);
  return startService({
    ...options,
    file: isFile ? withUsageErrors(() => privateDatabase(file)) : file,
    key,
    clock,
  }).catch(async (cause) => {
    if (cause instanceof FaultSpecError) {
      throw new UsageError(cause.message, { cause, hint: 'petstock sandbox serve --help' });
    }
    if (cause instanceof TlsError) throw new UsageError(cause.message, { cause });
    throw listenError(cause, options) ?? (await storageError(cause, { file, database, isOwn: file === own.file }));
  });
}

/**
 * Returns the result of `read` for a file that an option names.
 * @throws UsageError in place of a FailureError, such as for a file that another user owns or can write to
 */
export function withUsageErrors<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (cause) {
    throw cause instanceof FailureError ? new UsageError(cause.message, { cause, hint: cause.hint }) : cause;
  }
}

interface FailedStorage extends Pick<ServiceOptions, 'file' | 'database'> {
  /** Whether the file is the database of `--env sandbox`. */
  readonly isOwn?: boolean;
}

/**
 * Converts an error of the storage to an error of petstock; returns any other error unchanged. The hint suggests a
 * reset only if the sandbox is damaged: any other file does not belong to petstock, and a sandbox of a later version
 * still has its stock.
 */
export async function storageError(cause: unknown, { file = '', database, isOwn = false }: FailedStorage) {
  const { StorageError } = await import('../service/index.ts');
  if (!(cause instanceof StorageError)) return cause;
  if (database !== undefined) {
    // Unlike the file below, the URL is not repeated, because it may contain a password.
    const isRefused = cause.kind === 'unusable' || cause.kind === 'damaged';
    return new (isRefused ? UsageError : UnavailableError)(`The database can't be used: ${cause.message}`, { cause });
  }
  const hint = isOwn && cause.kind === 'damaged' ? 'petstock sandbox reset' : undefined;
  return new UsageError(`The sandbox can't use ${file}: ${cause.message}`, { cause, hint });
}

/**
 * Creates an error that says why the service can't listen; undefined for any other cause. The port comes from the
 * system's error, because the service may listen on two ports.
 */
function listenError(
  cause: NodeJS.ErrnoException & { readonly port?: number },
  { host: ofService = '127.0.0.1', adminHost, adminPort }: Partial<ServiceOptions>,
): UsageError | undefined {
  const isAdmin = cause.port !== undefined && cause.port === adminPort;
  const option = isAdmin ? '--admin-port' : '--port';
  const host = isAdmin ? (adminHost ?? ofService) : ofService;
  const hint = petstock`sandbox serve ${option} 0`;
  switch (cause.code) {
    case 'EADDRINUSE':
      return new UsageError(`Another program uses port ${cause.port} on ${host}`, { cause, hint });
    case 'EACCES':
      return new UsageError(`You have no permission to use port ${cause.port} on ${host}`, { cause, hint });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new UsageError(`There is no address ${host} on this machine`, { cause, hint });
    default:
      return undefined;
  }
}

/**
 * Returns the path of the database and the key that are kept between commands. The key is created on first use.
 * @throws FailureError if the folder or the key belongs to another user, or others can write to it
 */
export async function openSandbox(stateFolder: string) {
  makePrivateFolder(stateFolder);
  const keyFile = keyFileIn(stateFolder);
  const key = readKey(keyFile) ?? (await makeKey(keyFile));
  return { file: sandboxFile(stateFolder), key };
}

export function sandboxFile(stateFolder: string): string {
  return join(stateFolder, 'sandbox.db');
}

export function ownKey(stateFolder: string): string | undefined {
  return readKey(keyFileIn(stateFolder));
}

/**
 * Makes the sandbox's key private if other users could read it.
 * @returns a warning for the user; undefined if the key was private, or is missing
 * @throws FailureError if the file belongs to another user, or others can write to it
 */
export function narrowSandbox(stateFolder: string): string | undefined {
  return readPrivateFile(keyFileIn(stateFolder))?.warning;
}

function keyFileIn(stateFolder: string): string {
  return join(stateFolder, 'sandbox.key');
}

/**
 * Creates and returns the sandbox's key. If several first commands run at once, all of them use the key that was stored
 * first.
 */
async function makeKey(keyFile: string): Promise<string> {
  const { generateKey } = await import('../service/index.ts');
  await createFileAtomically(keyFile, generateKey());
  const key = readKey(keyFile);
  if (key === undefined) throw new FailureError(`The sandbox key in ${keyFile} can't be read`);
  return key;
}

function readKey(file: string): string | undefined {
  try {
    return readPrivateFile(file)?.text.trim() || undefined;
  } catch (error) {
    if (error instanceof FailureError) throw error;
    return undefined;
  }
}
