import type { RowError } from '../inventory/change.ts';
import { exactJson } from './exact-json.ts';
import { jsonRowWriter } from './json-row.ts';
import type { Paint } from './paint.ts';
import type { Column, Row, Scalar, View } from './view.ts';

/** What the report of a bulk change and the history show alike of a row. */

/** The fields of a row for its error: `error` is the message; code and status are there for `changeRowWriter`. */
export function errorFields(error: RowError | undefined): Row {
  if (error === undefined) return noError;
  return { error: error.message, errorCode: error.code, errorStatus: error.status ?? null };
}

const noError: Row = { error: null };

/**
 * Writes rows with `errorFields` as JSON: the columns, but for an error an object with code, message and, after an answer,
 * status. It goes last, and only where there is one.
 */
export function changeRowWriter(columns: readonly Column[]): (row: Row) => string {
  const write = jsonRowWriter(columns.filter(({ field }) => field !== 'error'));
  return (row) => {
    const { error: message = null, errorCode: code, errorStatus } = row;
    if (message === null) return write(row);
    const status = errorStatus ?? undefined;
    return `${write(row).slice(0, -1)},"error":${exactJson({ code, message, status })}}`;
  };
}

export function numberColumn(field: string, title: string): Column {
  return { field, title, align: 'right' };
}

const batchSize = 1000;

/** Rows made when they are wanted, so that a long report is not in memory twice. Can be read more than once. */
export function batchesOf<T>(values: readonly T[], toRow: (value: T) => Row): View['rows'] {
  return {
    *[Symbol.iterator]() {
      for (let start = 0; start < values.length; start += batchSize) {
        yield values.slice(start, start + batchSize).map(toRow);
      }
    },
  };
}

const looks: Readonly<Record<string, { readonly color: 'green' | 'dim' | 'red' | 'yellow' | 'cyan'; word?: string }>> =
  {
    planned: { color: 'cyan' },
    applied: { color: 'green' },
    unchanged: { color: 'dim' },
    failed: { color: 'red' },
    conflict: { color: 'yellow' },
    notAttempted: { color: 'dim', word: 'not attempted' },
    pending: { color: 'dim', word: 'not sent' },
    open: { color: 'yellow', word: 'not known' },
  };

/** The result or state of a row, in its colour. */
export function stateCell(value: Scalar, _row: Row, paint: Paint): string {
  const look = looks[`${value}`];
  return look === undefined ? `${value ?? ''}` : paint[look.color](look.word ?? `${value}`);
}
