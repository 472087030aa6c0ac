import { plainName } from '../shared/sanitize.ts';
import type { Row } from './statements.ts';

export function text(value: Row[string] | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}

/** Returns a name that another process has stored, for messages: whoever can write to the state can put anything there. */
export function name(value: Row[string] | undefined): string {
  return plainName(String(value));
}

/** Returns the texts of a JSON array that another process has stored; none if it is anything else. */
export function texts(value: Row[string] | undefined): string[] {
  const stored: unknown = json(value);
  return Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : [];
}

/** Returns JSON that another process has stored, of any shape; undefined if it is none: it must not end a command. */
export function json(value: Row[string] | undefined): unknown {
  try {
    return JSON.parse(String(value));
  } catch {
    return undefined;
  }
}

/** A number of any kind; a bigint of PostgreSQL comes as text. */
export function number(value: Row[string] | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

export function flag(value: Row[string] | undefined): boolean | undefined {
  if (value === null || value === undefined) return undefined;
  return value === true || value === 't' || value === 'true' || Number(value) === 1;
}
