import type { RowError } from '../inventory/change.ts';
import type { JournalChange, Outcome, RunHead } from './records.ts';

/** The version of the format that is written and read. Records and fields that a reader does not know are passed over. */
export const formatVersion = 1;

/** The process that writes, as far as others can look for it. */
export interface Writer {
  readonly pid: number;
  /** Names the start of the machine that the number counts for. */
  readonly boot: string;
}

/** One line of the file of a run. */
export type FileRecord =
  | ({ readonly type: 'run'; readonly run: string; readonly at: string } & Writer & RunHead)
  /** The first line of a file that a later version has written. */
  | { readonly type: 'later' }
  | ({ readonly type: 'change' } & JournalChange)
  /** All changes are on disk. `changes` tells a later reader whether it has found all of them. */
  | { readonly type: 'ready'; readonly changes: number | undefined; readonly unchanged: number }
  | { readonly type: 'intent'; readonly row: number }
  | ({ readonly type: 'outcome' } & Outcome)
  /** Another process goes on with the run. */
  | ({ readonly type: 'resume' } & Writer)
  /** A process stops writing, in good order. */
  | ({ readonly type: 'end' } & Writer);

/** @returns a line with its end */
export function encodeChange({ petId, ...change }: JournalChange): string {
  // As text, since a reader's numbers may not hold an int64.
  return encodeRecord({ type: 'change', ...change, petId: String(petId) });
}

/** @returns a line with its end */
export function encodeRecord(record: { readonly type: FileRecord['type']; readonly [field: string]: unknown }): string {
  return `${JSON.stringify(record)}\n`;
}

/** @returns undefined for a line that is torn or garbled, or of a type that only a later version knows */
export function decodeRecord(line: string): FileRecord | undefined {
  let fields: unknown;
  try {
    fields = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof fields !== 'object' || fields === null) return undefined;
  return decode(fields as Fields);
}

type Fields = Readonly<Record<string, unknown>>;

function decode(fields: Fields): FileRecord | undefined {
  switch (fields.type) {
    case 'run':
      return decodeHead(fields);
    case 'change':
      return decodeChange(fields);
    case 'ready': {
      const { changes, unchanged } = fields;
      return isCount(unchanged)
        ? { type: 'ready', changes: isCount(changes) ? changes : undefined, unchanged }
        : undefined;
    }
    case 'intent':
      return isCount(fields.row) ? { type: 'intent', row: fields.row } : undefined;
    case 'outcome':
      return decodeOutcome(fields);
    case 'resume':
    case 'end': {
      const { type, pid, boot } = fields;
      return isCount(pid) && isText(boot) ? { type, pid, boot } : undefined;
    }
    default:
      return undefined;
  }
}

function decodeHead(fields: Fields): FileRecord | undefined {
  const { version, run, at, pid, boot, command, env, baseUrl, key, user, file, undoes } = fields;
  if (version !== formatVersion) return isCount(version) ? { type: 'later' } : undefined;
  if (!isText(run) || !isText(at) || !isCount(pid) || !isText(boot)) return undefined;
  if (!isText(command) || !isText(env) || !isText(baseUrl) || !isText(key)) return undefined;
  const optional = { user: textOf(user), file: textOf(file), undoes: textOf(undoes) };
  return { type: 'run', run, at, pid, boot, command, env, baseUrl, key, ...optional };
}

function decodeChange({ row, line, petId, before, after, reason, ref }: Fields): FileRecord | undefined {
  if (!isCount(row) || !isCount(line) || !isText(petId) || !/^-?\d{1,19}$/.test(petId) || !isInteger(after)) {
    return undefined;
  }
  const optional = { before: isInteger(before) ? before : undefined, reason: textOf(reason), ref: textOf(ref) };
  return { type: 'change', row, line, petId: BigInt(petId), after, ...optional };
}

const results: ReadonlySet<unknown> = new Set<Outcome['result']>([
  'applied',
  'unchanged',
  'failed',
  'conflict',
  'unknown',
  'void',
]);

function decodeOutcome({ row, result, quantity, error }: Fields): FileRecord | undefined {
  if (!isCount(row) || !isResult(result)) return undefined;
  return { type: 'outcome', row, result, quantity: isInteger(quantity) ? quantity : undefined, error: errorOf(error) };
}

function errorOf(value: unknown): RowError | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { code, message, status } = value as Fields;
  if (!isText(code) || !isText(message)) return undefined;
  return isInteger(status) ? { code, message, status } : { code, message };
}

function isResult(value: unknown): value is Outcome['result'] {
  return results.has(value);
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isCount(value: unknown): value is number {
  return isInteger(value) && value >= 0;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function textOf(value: unknown): string | undefined {
  return isText(value) ? value : undefined;
}
