import { type PetstockError, statusSentence } from '../shared/errors.ts';
import { sentence } from '../shared/parsed.ts';
import { isBlank, singleLine } from '../shared/sanitize.ts';
import { exactJson } from './exact-json.ts';
import type { Paint } from './terminal.ts';
import { barred, messageLines } from './text-width.ts';

/** The parts of an error that are printed. */
export type PrintedError = { readonly code: string; readonly kind: string; readonly message: string } & Partial<
  Pick<
    PetstockError,
    'hint' | 'lines' | 'status' | 'serviceError' | 'retryAfterSeconds' | 'run' | 'faults' | 'faultCount'
  >
>;

/**
 * Returns `Error: …`, quoted text with a bar in front of each line, and `Hint: …` if there is one, each with its line
 * end. A hint that is a command is never wrapped, so that it can be copied.
 * @param width the width of the terminal; infinite if nothing is wrapped
 */
export function errorText(
  error: Pick<PrintedError, 'message' | 'lines' | 'hint' | 'serviceError'>,
  paint: Paint,
  width = Number.POSITIVE_INFINITY,
): string {
  const label = 'Error:';
  const { own, words } = withoutWords(error);
  const [first = '', ...others] = messageLines(`${label} ${singleLine(own).trim()}`, width);
  const quotes = [...words, ...(error.lines ?? [])].flatMap((line) => barred(singleLine(line).trim(), width));
  const hint = error.hint === undefined ? [] : hintLines(singleLine(error.hint).trim(), paint, width);
  const lines = [paint.bold(paint.red(label)) + first.slice(label.length), ...others, ...quotes, ...hint];
  return `${lines.join('\n')}\n`;
}

function hintLines(hint: string, paint: Paint, width: number): string[] {
  const label = 'Hint:';
  const isCommand = hint.startsWith('petstock ');
  const [first = '', ...others] = messageLines(`${label} ${hint}`, isCommand ? Number.POSITIVE_INFINITY : width);
  return [paint.bold(paint.cyan(label)) + first.slice(label.length), ...others];
}

/** How many code units of the service's text are searched for in their JSON spelling. */
const maxQuote = 200;

/** Returns the message without the text of the service, and that text separately. */
export function withoutWords({ message, serviceError }: Pick<PrintedError, 'message' | 'serviceError'>) {
  const text = singleLine(message).trim();
  for (const said of serviceError === undefined ? [] : beginningsOf(serviceError.message)) {
    for (const quote of spellingsOf(said)) {
      const at = positionOf(quote, text);
      if (at >= 0) return { own: aroundQuote(text, at, quote, serviceError?.status), words: [said] };
    }
  }
  return { own: message, words: [] };
}

/** Returns the text, and the text without its last lines, because petstock may have appended lines. */
function beginningsOf(text: string): string[] {
  const lines = text.split('\n');
  return lines.map((_line, index) => lines.slice(0, lines.length - index).join('\n')).filter((each) => !isBlank(each));
}

/** Returns how a message may contain text of the service: unchanged, with a capital, or as in JSON. */
function spellingsOf(said: string): string[] {
  const plain = singleLine(said).trim();
  const escaped = JSON.stringify(said.slice(0, maxQuote)).slice(1, -1);
  return [plain, plain.charAt(0).toUpperCase() + plain.slice(1), escaped];
}

/** Returns where quoted text is in a sentence: at its start, or after a colon or a bracket; -1 if it is not there. */
function positionOf(quote: string, text: string): number {
  for (let at = text.indexOf(quote); at >= 0; at = text.indexOf(quote, at + 1)) {
    const [before, after] = [text.slice(0, at), text.slice(at + quote.length)];
    const ends =
      /^\s*(?:$|[.\u2026)"!?;,])|^\s+\(/.test(after) || (/[.!?\u2026]$/.test(quote) && after.startsWith(' '));
    if (ends && /(?:^|:\s+|\("?|")$/.test(before)) return at;
  }
  return -1;
}

function aroundQuote(text: string, at: number, quote: string, status: number | undefined): string {
  const before = text.slice(0, at).replace(/[\s:("]+$/, '');
  const after = text.slice(at + quote.length).replace(/^[\s.\u2026)"!?;,]+/, '');
  if (before === '')
    return [`${statusSentence(status)}.`, after.replace(`(${status})`, '').replace(/^\.\s*/, '')].join(' ').trim();
  return sentence(after.startsWith('(') ? `${before} ${after}` : [sentence(before), after].join(' ').trimEnd());
}

/**
 * Returns one line of JSON with its line end:
 * `{"error":{"code","kind","message","status","exitCode","hint","retryAfterSeconds","run", "faults","faultCount"}}`.
 * Absent values are left out; the service's own code, message and status take precedence. `lines` become part of the
 * message, unless `faults` contains them.
 * @param facts members to write before `error`
 */
export function errorJson(error: PrintedError, exitCode: number, facts: object = {}): string {
  const { kind, hint, retryAfterSeconds, run, faults = [], faultCount } = error;
  const { code, message, status } = error.serviceError ?? error;
  const whole = [message, ...(faults.length > 0 ? [] : (error.lines ?? []))].join('\n');
  const listed = faults.length > 0 && { faults, faultCount };
  const shown = { code, kind, message: whole, status, exitCode, hint, retryAfterSeconds, run, ...listed };
  return `${exactJson({ ...facts, error: shown })}\n`;
}
