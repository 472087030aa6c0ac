import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RowError } from '../../inventory/change.ts';
import type { PlannedRow, RecordedResult } from '../history.ts';

/** What the file of one run of petstock 0.1.0 says. */
export interface OldRun {
  readonly run: string;
  readonly at: number;
  readonly command: string;
  readonly env: string;
  readonly baseUrl: string;
  readonly scope: string;
  readonly user: string | undefined;
  readonly file: string | undefined;
  readonly undoes: string | undefined;
  readonly unchanged: number;
  /** All rows were written down. Without that nothing was sent. */
  readonly isPlanned: boolean;
  /** Rows of the plan that can't be read any more. */
  readonly lost: number;
  readonly rows: readonly OldRow[];
}

export interface OldRow {
  readonly planned: PlannedRow;
  readonly result: RecordedResult;
  readonly quantity: number | undefined;
  readonly error: RowError | undefined;
  /** Of its last intent or outcome: milliseconds since the Unix epoch. */
  readonly at: number | undefined;
}

type Draft<T> = { -readonly [Field in keyof T]: T[Field] };
type Fields = Readonly<Record<string, unknown>>;

const fileName = /^(\d{8}T\d{6}Z-[0-9a-z]{4})\.ndjson$/;
const results: Readonly<Record<string, RecordedResult>> = {
  applied: 'applied',
  unchanged: 'unchanged',
  failed: 'failed',
  conflict: 'conflict',
  unknown: 'unknown',
  void: 'pending',
};

/** The names of the files of runs in a folder, the oldest first; none where there is no folder. */
export function oldRunFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => fileName.test(name))
      .sort();
  } catch {
    return [];
  }
}

/** @throws where the file can't be read, or its first line makes no sense */
export function readOldRun(folder: string, name: string): OldRun {
  const records = readFileSync(join(folder, name), 'utf8').split('\n').flatMap(fieldsOf);
  const head = records[0];
  if (head?.type !== 'run' || head.version !== 1) throw new Error('its first line is damaged');
  const rows = new Map<unknown, Draft<OldRow>>();
  let ready: Fields | undefined;
  for (const record of records) {
    if (record.type === 'change') addRow(rows, record);
    else if (record.type === 'ready') ready ??= record;
    else if (record.type === 'intent' || record.type === 'outcome') settle(rows.get(record.row), record);
  }
  return {
    run: fileName.exec(name)?.[1] ?? '',
    at: timeOf(head.at) ?? 0,
    command: String(head.command),
    env: String(head.env),
    baseUrl: String(head.baseUrl),
    scope: String(head.key),
    user: text(head.user),
    file: text(head.file),
    undoes: text(head.undoes),
    unchanged: integer(ready?.unchanged) ?? 0,
    isPlanned: ready !== undefined,
    lost: Math.max(0, (integer(ready?.changes) ?? 0) - rows.size),
    rows: [...rows.values()],
  };
}

/** A line that is torn says nothing. */
function fieldsOf(line: string): Fields[] {
  try {
    const fields: unknown = JSON.parse(line);
    return typeof fields === 'object' && fields !== null ? [fields as Fields] : [];
  } catch {
    return [];
  }
}

function addRow(rows: Map<unknown, Draft<OldRow>>, fields: Fields): void {
  const [row, line, after] = [fields.row, fields.line, fields.after].map(integer);
  const petId = text(fields.petId);
  if (row === undefined || line === undefined || after === undefined || petId === undefined) return;
  if (!/^-?\d{1,19}$/.test(petId) || rows.has(row)) return;
  const before = integer(fields.before);
  const planned = {
    row,
    line,
    petId: BigInt(petId),
    before,
    after,
    reason: text(fields.reason),
    ref: text(fields.ref),
  };
  rows.set(row, { planned, result: 'pending', quantity: undefined, error: undefined, at: undefined });
}

function settle(row: Draft<OldRow> | undefined, fields: Fields): void {
  const result = fields.type === 'intent' ? 'unknown' : results[String(fields.result)];
  if (row === undefined || result === undefined) return;
  const { quantity, error, at } = fields;
  Object.assign(row, { result, quantity: integer(quantity), error: errorOf(error), at: timeOf(at) ?? row.at });
}

function errorOf(value: unknown): RowError | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { code, message, status } = value as Fields;
  return { code: String(code), message: String(message), status: integer(status) };
}

function timeOf(value: unknown): number | undefined {
  const time = Date.parse(String(value));
  return Number.isNaN(time) ? undefined : time;
}

function integer(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? (value as number) : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
