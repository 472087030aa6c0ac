import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { RunningService, ServiceOptions } from '../service/index.ts';
import { ownerOf } from '../settings/folders.ts';
import { createFileAtomically } from '../shared/atomic-file.ts';
import { FailureError, readErrorReason, systemCode, UsageError } from '../shared/errors.ts';
import { petstock, shellWord } from '../shared/hint.ts';
import {
  effectiveUser,
  makePrivateFolder,
  otherFolderHint,
  readPrivateFile,
  withFolderHint,
} from '../shared/private-files.ts';
import { isSqliteError, sqliteCodeOf, sqliteCodes } from '../shared/sqlite-engine.ts';
import type { Context } from './context.ts';

export const sandboxPlan = 'business';

export const inMemory = ':memory:';

/**
 * Starts the sandbox, for one command or with the given options. Without a file of its own it uses that of the sandbox.
 * A server in memory has a key of its own, and neither needs nor makes a folder.
 * @throws UsageError for an invalid fault, port, address or file; FailureError if the sandbox's folder or key can't be
 * used
 */
export async function startSandbox(context: Context, options: Partial<ServiceOptions> = {}): Promise<RunningService> {
  const { FaultSpecError, startService } = await import('../service/index.ts');
  const { folders } = context;
  const { file = sandboxFile(folders.state), clock = context.clock } = options;
  // In memory, a user without a home needs no folder, and reading `folders.state` would fail.
  if (file !== inMemory) {
    const folder = dirname(resolve(file));
    // Another file may be in any folder, such as the mount point of a volume, which belongs to root.
    if (file === sandboxFile(folders.state)) makeSandboxFolder(folders.state);
    else if (!existsSync(folder)) makePrivateFolder(folder);
  }
  const key = options.key ?? (file === inMemory ? undefined : await sandboxKey(folders.state));
  return startService({ ...options, file, key, clock }).catch((cause) => {
    if (cause instanceof FaultSpecError) {
      throw new UsageError(cause.message, { cause, hint: 'petstock sandbox serve --help' });
    }
    throw listenError(cause, options) ?? storageError(cause, context, file);
  });
}

/**
 * Converts an error of the storage to an error of petstock; returns any other error unchanged. The hint suggests a
 * reset only if the sandbox is damaged: any other file does not belong to petstock, and a sandbox of a later version
 * still has its stock.
 */
export function storageError(cause: unknown, { folders }: Pick<Context, 'folders'>, file: string): unknown {
  const isOwn = file === sandboxFile(folders.state);
  if (systemCode(cause) !== undefined && !isSqliteError(cause)) {
    return isOwn ? unusableFolder(folders.state, cause) : unusableFile(file, readErrorReason(cause), { cause });
  }
  if (!(cause instanceof Error && (cause.name === 'StorageError' || isSqliteError(cause)))) return cause;
  const hint = isOwn && isDamage(cause) ? 'petstock sandbox reset' : undefined;
  return unusableFile(file, cause.message, { cause, hint });
}

function unusableFile(
  file: string,
  reason: string,
  options: { cause: unknown; hint?: string | undefined },
): UsageError {
  return new UsageError(`The sandbox can't use ${file}: ${reason}`, options);
}

function unusableFolder(folder: string, cause: unknown): FailureError {
  const isOurs = existsSync(folder) && ownerOf(folder) === effectiveUser();
  const hint = isOurs ? `chmod u+rwx ${shellWord(folder)}` : otherFolderHint('state', folder);
  return new FailureError(`The sandbox in ${folder} can't be used: ${readErrorReason(cause)}`, { cause, hint });
}

/** Creates the folder of the sandbox of this user. @throws FailureError that hints at another folder */
export function makeSandboxFolder(stateFolder: string): void {
  try {
    makePrivateFolder(stateFolder);
  } catch (error) {
    throw withFolderHint(error, 'state', stateFolder);
  }
}

/** Reports whether an error means that a file is not a database, or that its content is not valid. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  return code === sqliteCodes.corrupt || code === sqliteCodes.notADatabase;
}

/** Creates an error that says why the service can't listen; undefined for any other cause. */
function listenError(
  cause: NodeJS.ErrnoException & { readonly port?: number; readonly syscall?: string },
  { host = '127.0.0.1', port }: Partial<ServiceOptions>,
): UsageError | undefined {
  const hint = petstock`sandbox serve --port 0`;
  switch (cause.syscall === 'listen' || cause.syscall === 'getaddrinfo' ? cause.code : undefined) {
    case 'EADDRINUSE':
      return new UsageError(`Another program uses port ${port} on ${host}`, { cause, hint });
    case 'EACCES':
      return new UsageError(`You have no permission to use port ${port} on ${host}`, { cause, hint });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new UsageError(`There is no address ${host} on this machine`, { cause, hint });
    default:
      return undefined;
  }
}

export function sandboxFile(stateFolder: string): string {
  return join(stateFolder, 'sandbox.db');
}

/**
 * Returns the key that is kept between commands, and creates it on first use. If several first commands run at once,
 * all of them use the key that was stored first.
 * @throws FailureError if the folder or the key belongs to another user, others can write to it, or it can't be read
 */
export async function sandboxKey(stateFolder: string): Promise<string> {
  makeSandboxFolder(stateFolder);
  const known = ownKey(stateFolder);
  if (known !== undefined) return known;
  const { generateKey } = await import('../service/index.ts');
  const file = keyFileIn(stateFolder);
  await createFileAtomically(file, generateKey());
  const key = ownKey(stateFolder);
  if (key === undefined) {
    throw new FailureError(`The sandbox key in ${file} is empty`, { hint: `rm ${shellWord(file)}` });
  }
  return key;
}

/** Returns the key of the sandbox; undefined if it has none yet. @throws FailureError if it can't be read */
export function ownKey(stateFolder: string): string | undefined {
  return readKey(stateFolder)?.text.trim() || undefined;
}

/**
 * Makes the sandbox's key private if other users could read it.
 * @returns a warning for the user; undefined if the key was private, or is missing
 * @throws FailureError if the file belongs to another user, others can write to it, or it can't be read
 */
export function narrowSandbox(stateFolder: string): string | undefined {
  return readKey(stateFolder)?.warning;
}

function readKey(stateFolder: string) {
  try {
    return readPrivateFile(keyFileIn(stateFolder));
  } catch (cause) {
    const code = systemCode(cause);
    if (code === 'ENOTDIR') return undefined;
    if (code === undefined) throw cause;
    throw unusableFolder(stateFolder, cause);
  }
}

function keyFileIn(stateFolder: string): string {
  return join(stateFolder, 'sandbox.key');
}
