import { singleLine } from '../shared/sanitize.ts';
import { exactJson } from './exact-json.ts';
import type { Paint } from './paint.ts';

/** What the output needs of a failure; every PetstockError is one. */
export interface ErrorFacts {
  readonly code: string;
  /** The name of the exit code: `not-found`. */
  readonly kind: string;
  readonly message: string;
  /** What to do, as a command that can be run. */
  readonly hint?: string | undefined;
  /** What is wrong, one by one. */
  readonly lines?: readonly string[] | undefined;
  /** HTTP status of the answer, where there was one. */
  readonly status?: number | undefined;
  /** The Error body of the service, where it sent one. */
  readonly service?: { readonly code: string; readonly message: string; readonly status: number } | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** The run that had begun. */
  readonly run?: string | undefined;
  /** The faults of a file, as far as they are listed, and how many there are. */
  readonly faults?: readonly object[] | undefined;
  readonly faultCount?: number | undefined;
}

/**
 * `Error: …`, what is wrong one by one, and, where there is a hint, `Hint: …`; each with its line end.
 * @param fold breaks one of them into lines for a narrow terminal; the hint stays whole, so that it can be copied
 */
export function errorText(
  error: Pick<ErrorFacts, 'message' | 'lines' | 'hint'>,
  paint: Paint,
  fold: (line: string) => readonly string[] = (line) => [line],
): string {
  const folded = (line: string): string => `${fold(line).join('\n')}\n`;
  const label = 'Error:';
  const lines = [
    paint.bold(paint.red(label)) + folded(`${label} ${singleLine(error.message).trim()}`).slice(label.length),
  ];
  for (const line of error.lines ?? []) lines.push(folded(`  ${singleLine(line).trim()}`));
  if (error.hint !== undefined) lines.push(`${paint.bold(paint.cyan('Hint:'))} ${singleLine(error.hint).trim()}\n`);
  return lines.join('');
}

/**
 * One line of JSON with its line end: `{"error":{"code","kind","message","status","exitCode","hint","retryAfterSeconds","run",
 * "faults","faultCount"}}`. What is absent is left out; the service's own code, message and status take precedence over ours.
 * Lines are a part of the message unless `faults` says the same.
 */
export function errorJson(error: ErrorFacts, exitCode: number): string {
  const { kind, hint, retryAfterSeconds, run, faults = [], faultCount } = error;
  const { code, message: sentence, status } = error.service ?? error;
  const message = [sentence, ...(faults.length > 0 ? [] : (error.lines ?? []))].join('\n');
  const listed = faults.length > 0 && { faults, faultCount };
  return `${exactJson({ error: { code, kind, message, status, exitCode, hint, retryAfterSeconds, run, ...listed } })}\n`;
}
