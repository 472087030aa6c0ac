import { type PetstockError, serviceQuotes } from '../shared/errors.ts';
import { singleLine } from '../shared/sanitize.ts';
import { exactJson } from './json-format.ts';
import type { Paint } from './terminal.ts';
import { barred, messageLines } from './text-width.ts';

/** The parts of an error that are printed. */
export type PrintedError = { readonly code: string; readonly kind: string; readonly message: string } & Partial<
  Pick<
    PetstockError,
    'hint' | 'lines' | 'status' | 'serviceError' | 'isReworded' | 'retryAfterSeconds' | 'run' | 'faults' | 'faultCount'
  >
>;

/**
 * Returns `Error: …`, quoted text with a bar in front of each line, and `Hint: …` if there is one, each with its line
 * end. A hint that is a command is never wrapped, so that it can be copied.
 * @param width the width of the terminal; infinite if nothing is wrapped
 */
export function errorText(
  error: Pick<PrintedError, 'message' | 'lines' | 'hint' | 'serviceError' | 'isReworded'>,
  paint: Paint,
  width = Number.POSITIVE_INFINITY,
): string {
  const label = 'Error:';
  const [first = '', ...others] = messageLines(`${label} ${singleLine(error.message).trim()}`, width);
  const quotes = [...serviceQuotes(error), ...(error.lines ?? [])].flatMap((line) =>
    barred(singleLine(line).trim(), width),
  );
  const hint = error.hint === undefined ? [] : hintLines(singleLine(error.hint).trim(), paint, width);
  const lines = [paint.bold(paint.red(label)) + first.slice(label.length), ...others, ...quotes, ...hint];
  return `${lines.join('\n')}\n`;
}

function hintLines(hint: string, paint: Paint, width: number): string[] {
  const label = 'Hint:';
  const isCommand = /^(?:(?:PETSTOCK_\w+=\S+ )?petstock|printf|cat|ls|rm|export|mv|openssl|chmod) /.test(hint);
  const [first = '', ...others] = messageLines(`${label} ${hint}`, isCommand ? Number.POSITIVE_INFINITY : width);
  return [paint.bold(paint.cyan(label)) + first.slice(label.length), ...others];
}

/**
 * Returns one line of JSON with its line end:
 * `{"error":{"code","kind","message","status","exitCode","hint","retryAfterSeconds","run","faults","faultCount"}}`.
 * Absent values are left out; the service's own code, message and status take precedence. `lines` become part of the
 * message, unless `faults` contains them.
 * @param facts members to write before `error`
 */
export function errorJson(error: PrintedError, exitCode: number, facts: object = {}): string {
  const { kind, hint, retryAfterSeconds, run, faults = [], faultCount } = error;
  const { code, message, status } = error.serviceError ?? error;
  // Only petstock's own message tells what a run has written.
  const own = kind === 'partial' && error.serviceError !== undefined ? [error.message] : [];
  const whole = [message, ...own, ...(faults.length > 0 ? [] : (error.lines ?? []))].join('\n');
  const listed = faults.length > 0 && { faults, faultCount };
  const shown = { code, kind, message: whole, status, exitCode, hint, retryAfterSeconds, run, ...listed };
  return `${exactJson({ ...facts, error: shown })}\n`;
}
