import type { Row, Scalar } from './view.ts';

/** Takes the keys out of text. */
export type Redact = (text: string) => string;

/** A row whose text has no key in it. It comes before anything is cut or wrapped: half of a key could not be found any more. */
export function redactedRow(row: Row, redact: Redact): Row {
  let copy: Record<string, Scalar> | undefined;
  for (const [field, value] of Object.entries(row)) {
    if (typeof value !== 'string') continue;
    const shown = redact(value);
    if (shown === value) continue;
    copy ??= Object.assign(Object.create(null) as Record<string, Scalar>, row);
    copy[field] = shown;
  }
  return copy ?? row;
}
