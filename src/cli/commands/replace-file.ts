import { createHash } from 'node:crypto';
import { type BigIntStats, createReadStream, fstatSync, statSync } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type ChangeFormat, changeFormats, formatOfName } from '../../change-files/read-rows.ts';
import { requireFolderOf, writeFileAtomically } from '../../shared/atomic-file.ts';
import { ClosedPipeError, systemCode, UsageError } from '../../shared/errors.ts';
import { petstock, withOption } from '../../shared/hint.ts';
import { makePrivateFolder } from '../../shared/private-files.ts';
import { orInterrupted } from '../input-file.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { requireFileName } from './option-values.ts';

/**
 * Returns the format of a file to write: the typed one, otherwise that of the file's name, otherwise that of a
 * variable. The setting `output` applies only to the screen.
 * @param file the path; `-` for stdout
 * @param usual the format if nothing determines one
 * @param known the formats that the command can write
 * @throws UsageError if the file has the extension of another format or of a workbook
 */
export function exportFormat(
  { globals, command }: Pick<Invocation, 'globals' | 'command'>,
  file: string,
  usual: ChangeFormat,
  known: readonly ChangeFormat[] = changeFormats,
): ChangeFormat {
  requireFileName(file, command);
  const formatOf = (text: unknown) => known.find((format) => format === text);
  const named = formatOfName(file);
  const { json, typed, output } = globals;
  const format = formatOf(json ? 'json' : typed.output) ?? formatOf(named) ?? formatOf(output) ?? usual;
  const isTable = (one: ChangeFormat | undefined) => one === 'csv' || one === 'tsv';
  if (/\.(?:xlsx?|ods)$/i.test(file)) {
    throw new UsageError(
      `${file} has the extension of a workbook, but ${command} writes text. Use a name that ends in .csv`,
    );
  }
  if (named !== undefined && format !== named && !(isTable(format) && isTable(named))) {
    throw new UsageError(
      `${file} has the extension of ${named}, but ${command} writes ${format} here. Use a name that ends in .${format}`,
    );
  }
  return format;
}

/**
 * Refuses `--no-header`, because petstock can read the written file again only by its header line.
 * @throws UsageError if `--no-header` was typed
 */
export function requireHeader({ globals, command }: Pick<Invocation, 'globals' | 'command'>): void {
  if (globals.typed.header !== false) return;
  throw new UsageError(`${command} needs a header line, so that its file can be read again. Leave out --no-header`);
}

export const forceOption = [
  '--force',
  'replace a file that petstock did not write, or that was changed since',
] as const;

export interface ReplacingOptions {
  readonly force: boolean;
  /** The files that the command itself reads; `-` is stdin. `--force` does not replace them. */
  readonly inputs?: readonly string[];
}

/**
 * Asks before replacing a file, because it may contain hours of work. There is no question with `force`, with `--yes`
 * on a terminal, if a note says that petstock wrote this content, or for files without rows, pipes and other special
 * files.
 * @throws UsageError if the answer is no, if there is no terminal to ask on, or if a file that needs a question is an
 * input file or in a folder of petstock; FailureError if its folder does not exist
 */
export async function confirmReplacing(invocation: Invocation, file: string, { force, inputs = [] }: ReplacingOptions) {
  requireFolderOf(file);
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size === 0) return;
  const { context, questions } = invocation;
  const isInput = isOneOf(invocation, inputs, file);
  const within = statsOf(dirname(await realpath(file)));
  const isOurs = Object.values(context.folders).some((folder) => isSame(statsOf(folder), within));
  if (force && !isInput && !isOurs) return;
  if (!isOurs && (await hasNoRows(file))) return;
  if (await isAsWritten(file, context.folders.state)) return;
  if (isOurs) {
    throw new UsageError(`${file} is in petstock's own folder. Nothing was sent. Choose another file to write to`);
  }
  if (isInput) {
    throw new UsageError(
      `This command reads ${file}, which may hold the only copy of its content. Nothing was sent. Choose another file to write to`,
    );
  }
  if (!(context.stdin.isTerminal && context.stderr.isTerminal)) {
    throw new UsageError(`${file} already exists and may hold the only copy of its content. Nothing was sent`, {
      hint: petstock`${withOption(context.argv, '--force')}`,
    });
  }
  await questions.confirm({ question: `${file} already exists. Replace it?`, notDone: `${file} was not changed` });
}

/**
 * Reports whether a file is one of those that a command reads (`-` is stdin), even through hard or symbolic links.
 * False for a pipe.
 */
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

/**
 * Writes text to a file, or to stdout (`-`). Then prints a note; for stdout, only if `done` is given.
 * @throws the errors of `confirmReplacing`, before `text` is read
 */
export async function exportTo(
  invocation: Invocation,
  file: string,
  text: AsyncIterable<string>,
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
  // Opening a pipe blocks until the pipe has a reader.
  const isPipe = statSync(file, { throwIfNoEntry: false })?.isFIFO();
  await (isPipe ? orInterrupted(writing, invocation.context.interrupted) : writing);
  await rememberWritten(invocation, file);
  await invocation.messages.note(done?.() ?? `Written to ${file}.`);
}

/**
 * Checks the name of a CSV file.
 * @throws UsageError for an empty name, or for the extension of another format, because `apply` would trust the
 * extension
 */
export function requireCsvName(file: string, what: string): void {
  requireFileName(file, what);
  const [extension] = /\.(json|ndjson|jsonl|xlsx?|ods)$/i.exec(file) ?? [];
  if (extension === undefined) return;
  throw new UsageError(`${what} writes CSV. Use a name that ends in .csv, not ${file}`);
}

/**
 * Returns the stats of a file; undefined if they can't be read.
 * @param file a path, or an open descriptor
 */
function statsOf(file: string | number): BigIntStats | undefined {
  try {
    // Windows has file numbers that a double can't represent.
    return typeof file === 'number' ? fstatSync(file, { bigint: true }) : statSync(file, { bigint: true });
  } catch {
    return undefined;
  }
}

/**
 * The folder in the state folder that has one note for each file that petstock may replace without a question while its
 * content is unchanged: a hash of that content. Separate notes keep processes from overwriting each other's.
 */
const notesFolder = 'written';

function noteOf(stateFolder: string, path: string): string {
  return join(stateFolder, notesFolder, createHash('sha256').update(path).digest('hex'));
}

async function isAsWritten(path: string, stateFolder: string): Promise<boolean> {
  const note = await readFile(noteOf(stateFolder, await realpath(path)), 'utf8').catch(() => undefined);
  return note !== undefined && note === (await digestOf(path));
}

/** Writes a file that may be replaced without a question as long as it is unchanged. */
export async function writeReplaceable(
  invocation: Invocation,
  file: string,
  text: AsyncIterable<string> | readonly string[],
): Promise<void> {
  await writeFileAtomically(file, text);
  await rememberWritten(invocation, file);
}

/**
 * Notes a hash of a file that petstock has written, so that the file may be replaced without a question as long as it
 * is unchanged. Does nothing for a pipe. Ignores errors.
 */
async function rememberWritten({ context }: Invocation, file: string): Promise<void> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return;
  const folder = join(context.folders.state, notesFolder);
  try {
    makePrivateFolder(context.folders.state);
    makePrivateFolder(folder);
    const note = noteOf(context.folders.state, await realpath(file));
    await writeFileAtomically(note, [await digestOf(file)], { isPrivate: true });
  } catch {
    // The file itself is written. Without the note, petstock asks before it replaces the file.
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}

/** Reports whether a small file is blank, or contains only the header of a change file. */
async function hasNoRows(file: string): Promise<boolean> {
  const { size } = await stat(file);
  return size <= 200 && /^\uFEFF?(?:petId[,;\t|][\w,;\t|]*)?\s*$/.test(await readFile(file, 'utf8'));
}
