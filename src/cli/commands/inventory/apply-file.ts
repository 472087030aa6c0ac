import { createReadStream } from 'node:fs';
import { type ChangeFormat, changeFormats, type FileFault, readChanges } from '../../../change-files/read-changes.ts';
import type { Change } from '../../../inventory/change.ts';
import { grouped } from '../../../inventory/grouped.ts';
import { planChanges } from '../../../inventory/plan.ts';
import { InterruptedError, UsageError } from '../../../shared/errors.ts';
import { createJournal } from '../../../writes/journal.ts';
import { type BulkOptions, runBulk } from '../../../writes/run-bulk.ts';
import { withBulkSession } from '../../../writes/session.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { failedRowsWriter } from './failed-out.ts';

export interface FileOptions extends Omit<BulkOptions, 'stdinIsTaken' | 'keepFailed'> {
  readonly format: string | undefined;
  readonly skipUnknown: boolean;
  readonly failedOut: string | undefined;
}

/** Reads a change file, plans it, and has it written. @throws UsageError with every fault that the file has */
export async function runFile(invocation: Invocation, file: string, options: FileOptions): Promise<void> {
  const keepFailed = failedRowsWriter(options.failedOut);
  const changes = await read(invocation, file, formatOf(options.format));
  await withBulkSession(invocation, async (session) => {
    await invocation.announce();
    const { quantities, mark } = await session.readStock(new Set(changes.map(({ petId }) => petId)));
    const { skipUnknown } = options;
    const env = invocation.environment.value;
    const { rows, faults } = planChanges(changes, (petId) => quantities.get(petId), { skipUnknown, env });
    const command = commandOf(file, env, options);
    if (faults.length > 0) {
      const isUnknown = changes.some(({ petId }) => !quantities.has(petId));
      throw refusal(file, faults, faults.length, {
        nothing: 'nothing was written',
        hint: isUnknown ? `${command} --skip-unknown` : undefined,
      });
    }
    const begin = createJournal(invocation, session, { command: 'inventory apply', file });
    const job = { rows, mark, verb: 'Write' as const, look: `${command} --dry-run`, begin };
    await runBulk(invocation, session, job, { ...options, keepFailed, stdinIsTaken: file === '-' });
  });
}

function formatOf(text: string | undefined): ChangeFormat | undefined {
  if (text === undefined) return undefined;
  const format = changeFormats.find((known) => known === text);
  if (format !== undefined) return format;
  throw new UsageError(`--format takes ${changeFormats.join(', ')}; "${text}" is none of them`);
}

async function read(
  { context }: Invocation,
  file: string,
  format: ChangeFormat | undefined,
): Promise<readonly Change[]> {
  const { stdin, interrupted } = context;
  const chunks =
    file === '-' ? stdin.chunks : createReadStream(file, { highWaterMark: 256 * 1024, signal: interrupted });
  const result = await readChanges(chunks, { name: file === '-' ? undefined : file, format }).catch((error) => {
    throw readFault(file, error);
  });
  if (result.ok) return result.changes;
  throw refusal(file, result.faults, result.total, { nothing: 'nothing was sent' });
}

/** The command as it was given, as far as it says what the plan is. */
function commandOf(file: string, env: string, { format, skipUnknown }: FileOptions): string {
  const flags = [...(format === undefined ? [] : [`--format ${format}`]), ...(skipUnknown ? ['--skip-unknown'] : [])];
  return ['petstock inventory apply', shellWord(file), ...flags, `--env ${env}`].join(' ');
}

/** The name as a shell takes it. */
function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Why a file can't even be read, in words. */
function readFault(file: string, error: NodeJS.ErrnoException): unknown {
  switch (error.code) {
    case 'ABORT_ERR':
      return new InterruptedError('Interrupted; nothing was sent');
    case 'ENOENT':
      return new UsageError(`There is no file ${file}`, { cause: error });
    case 'EISDIR':
      return new UsageError(`${file} is a folder, not a file`, { cause: error });
    case 'EACCES':
    case 'EPERM':
      return new UsageError(`${file} can't be read: you have no right to`, { cause: error });
    default:
      return error;
  }
}

function refusal(
  file: string,
  faults: readonly FileFault[],
  total: number,
  { nothing, hint }: { readonly nothing: string; readonly hint?: string | undefined },
): UsageError {
  const name = file === '-' ? 'stdin' : file;
  const count = total === 1 ? 'a fault' : `${grouped(total)} faults`;
  const lines = faults.map(({ line, column, message }) => `line ${line}${column ? `, ${column}` : ''}: ${message}`);
  if (total > faults.length) lines.push(`… and ${grouped(total - faults.length)} more`);
  return new UsageError(`${name} has ${count}; ${nothing}`, { lines, hint });
}
