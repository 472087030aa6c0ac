import { createHash } from 'node:crypto';
import { type BigIntStats, createReadStream, fstatSync, statSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { requireSafePlace, writeFileAtomically } from '../../shared/atomic-file.ts';
import { ClosedPipeError, UsageError } from '../../shared/errors.ts';
import { systemCode } from '../../shared/file-error.ts';
import { petstock, withOption } from '../../shared/hint.ts';
import { orInterrupted } from '../../shared/or-interrupted.ts';
import { makePrivateFolder } from '../../shared/private-files.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { requireFileName } from './option-values.ts';

export const forceOption = [
  '--force',
  'replace a file that petstock did not write, or that was changed since',
] as const;

export interface ReplacingOptions {
  readonly force: boolean;
  /** The files that the same command reads; `-` is stdin. None of it is replaced, except for a file that petstock wrote. */
  readonly inputs?: readonly string[];
}

/**
 * Asks before a file is replaced that petstock did not write, or that was changed since: that may be hours of work. What is no file,
 * such as a pipe, is written to without a question.
 * @throws UsageError if the answer is no, if it can't be asked, and for an input; FailureError for a link that is not ours
 */
export async function confirmReplacing(invocation: Invocation, file: string, { force, inputs = [] }: ReplacingOptions) {
  requireSafePlace(file);
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size === 0) return;
  const { context, questions } = invocation;
  const isInput = isOneOf(invocation, inputs, file);
  const within = statsOf(dirname(await realpath(file)));
  const isOurs = Object.values(context.folders).some((folder) => isSame(statsOf(folder), within));
  if (force && !isInput && !isOurs) return;
  if (await isAsWritten(file, context.folders.state)) return;
  if (isOurs) {
    throw new UsageError(
      `${file} is where petstock keeps what it knows. Nothing was sent; name another file to write to`,
    );
  }
  if (isInput) {
    throw new UsageError(
      `${file} is what this command reads, and may hold the only copy of its content. Nothing was sent; name another file to write to`,
    );
  }
  if (!(context.stdin.isTerminal && context.stderr.isTerminal)) {
    throw new UsageError(`${file} already exists and may hold the only copy of its content. Nothing was sent`, {
      hint: petstock`${withOption(context.argv, '--force')}`,
    });
  }
  if (!questions.willAsk() || (await context.prompts.confirm(`${file} already exists. Replace it?`))) return;
  throw new UsageError(`Not confirmed; ${file} is as it was`);
}

/** Reports whether a file is one of those that a command reads (`-`: stdin), links of both kinds followed. A pipe never is. */
export function isOneOf({ context }: Invocation, inputs: readonly string[], file: string): boolean {
  const written = statsOf(file);
  return inputs.some((input) => {
    const read = statsOf(input === '-' ? (context.stdin.descriptor ?? '') : input);
    return written?.isFile() && read?.isFile() && isSame(read, written);
  });
}

function isSame(one: BigIntStats | undefined, other: BigIntStats | undefined): boolean {
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}

/** Writes to a file, and says so, or to stdout (`-`). @throws what `confirmReplacing` does, before `text` is read */
export async function exportTo(
  invocation: Invocation,
  file: string,
  text: AsyncIterable<string | Uint8Array>,
  { done, ...options }: ReplacingOptions & { done?(): string },
): Promise<void> {
  if (file === '-') {
    for await (const piece of text) await invocation.results.write(piece);
    if (done !== undefined) await invocation.messages.note(done());
    return;
  }
  await confirmReplacing(invocation, file, options);
  const writing = writeFileAtomically(file, text).catch((error) => {
    throw systemCode(error.cause) === 'EPIPE' ? new ClosedPipeError('No reader', { cause: error }) : error;
  });
  // The system lets nobody open a pipe before it has a reader.
  const isPipe = statSync(file, { throwIfNoEntry: false })?.isFIFO();
  await (isPipe ? orInterrupted(writing, invocation.context.interrupted) : writing);
  await rememberWritten(invocation, file);
  await invocation.messages.note(done?.() ?? `Written to ${file}.`);
}

/** @throws UsageError for no name, or for one that promises something else: `apply` would believe it */
export function requireCsvName(file: string, what: string): void {
  requireFileName(file, what);
  const [extension] = /\.(json|ndjson|jsonl|xlsx?|ods)$/i.exec(file) ?? [];
  if (extension === undefined) return;
  throw new UsageError(`${what} writes CSV, and ${file} would be taken for something else: name it .csv`);
}

/** @param file a path, or an open descriptor */
function statsOf(file: string | number): BigIntStats | undefined {
  try {
    // Windows has numbers that a double can't hold.
    return typeof file === 'number' ? fstatSync(file, { bigint: true }) : statSync(file, { bigint: true });
  } catch {
    return undefined;
  }
}

/** Of so many files it is known that petstock wrote them; of older ones it is asked. */
const maxKept = 200;

/** SHA-256 of what was written, by path; the newest last. */
type Digests = Readonly<Record<string, string>>;

/**
 * Which files petstock wrote, and what was in them: in the state folder. A file whose content is still the same may be replaced without
 * a question. Where this can't be kept, or two processes write it at once, a question too many is asked, never one too few.
 */
const writtenFiles = 'written-files.json';

async function isAsWritten(path: string, stateFolder: string): Promise<boolean> {
  const written = (await readDigests(stateFolder))[await realpath(path)];
  return written !== undefined && written === (await digestOf(path));
}

/** To be called once a file is written: it may be replaced as long as it stays as it is. */
export async function rememberWritten({ context }: Invocation, file: string): Promise<void> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return;
  const folder = context.folders.state;
  try {
    const path = await realpath(file);
    const { [path]: _before, ...others } = await readDigests(folder);
    const kept = [...Object.entries(others), [path, await digestOf(file)]].slice(-maxKept);
    makePrivateFolder(folder);
    const text = `${JSON.stringify(Object.fromEntries(kept))}\n`;
    await writeFileAtomically(join(folder, writtenFiles), [text], { isPrivate: true });
  } catch {
    // The file itself is written. The next time it is asked before it is replaced.
  }
}

async function readDigests(stateFolder: string): Promise<Digests> {
  try {
    const digests: unknown = JSON.parse(await readFile(join(stateFolder, writtenFiles), 'utf8'));
    return typeof digests === 'object' && digests !== null ? (digests as Digests) : {};
  } catch {
    return {};
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}
