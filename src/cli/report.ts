import { grouped } from '../inventory/items.ts';
import { errorJson, errorText } from '../output/error-text.ts';
import { createPaint, wantsColor } from '../output/terminal.ts';
import { barred } from '../output/text-width.ts';
import { formatDuration, localTime, minuteOf } from '../output/time.ts';
import { configOf } from '../settings/config-file.ts';
import { keyInHistory, withoutKeys } from '../settings/key-and-url.ts';
import { resolveKey } from '../settings/resolve.ts';
import { fromFile, remoteEnvironmentNames } from '../settings/settings.ts';
import type { SharedOptions } from '../settings/shared-options.ts';
import {
  AuthError,
  ChangesFound,
  ClosedPipeError,
  exitCodeOf,
  exitCodes,
  FailureError,
  InterruptedError,
  memoryShortage,
  NotFoundError,
  PetstockError,
  RateLimitedError,
  systemFailureText,
  UnavailableError,
  UsageError,
} from '../shared/errors.ts';
import { petstock, targetWords } from '../shared/hint.ts';
import { capitalized, sentence, uncapitalized } from '../shared/parsed.ts';
import { stripControlsFromBody } from '../shared/sanitize.ts';
import type { Context } from './context.ts';
import type { Invocation } from './invocation/invocation.ts';
import { Sink } from './invocation/messages.ts';
import { interruptedAsking } from './prompts.ts';

export interface ReportOptions {
  readonly context: Context;
  readonly globals: SharedOptions;
  /** Undefined if the error occurred before the command began, for example in parsing the command line. */
  readonly invocation: Invocation | undefined;
  /** The words of the command, or as many as the command line names. */
  readonly command: string;
}

/**
 * Reports on stderr what failed and what to do about it, as text or as one JSON object. Does not report a closed pipe
 * or a `ChangesFound`.
 * @returns the exit code
 */
export async function reportError(thrown: unknown, options: ReportOptions): Promise<number> {
  if (thrown instanceof ClosedPipeError || thrown instanceof ChangesFound) return exitCodes[thrown.kind];
  const error = thrown instanceof PetstockError ? thrown : await defect(thrown);
  const { context, globals, invocation } = options;
  const exitCode = exitCodeOf(error, context.interrupted);
  const { stderr, env } = context;
  const at = new Date(context.clock.now()).toISOString();
  const paint = () => createPaint(wantsColor({ flag: globals.color, env, isTerminal: stderr.isTerminal }));
  const sink = new Sink(stderr, paint, async () => {});
  const texts = {
    ...error,
    message: sentence(await completeMessage(error, options)),
    hint: error.hint ?? defaultHint(error, options),
  };
  // Typed keys are hidden only in a usage error. The text of any other error may come from the service.
  const facts = error instanceof UsageError ? withoutTypedKeys(texts, env) : texts;
  // Printed before the error, because the error must be the last line on stderr.
  if (globals.debug === 'text' && error.cause instanceof Error) await sink.write(`${stackText(error.cause, sink)}\n`);
  if (globals.debug === 'json') {
    const stack = error.cause instanceof Error ? error.cause.stack : undefined;
    await sink.write(errorJson(facts, exitCode, { at, event: 'error', stack }));
  } else if (invocation?.results.wantsJson ?? wantsJson(globals)) {
    await sink.write(errorJson(facts, exitCode));
  } else {
    const lines = stderr.isTerminal ? firstOf(facts.lines) : facts.lines;
    const safe = { ...facts, message: sink.redact(facts.message), lines: lines.map((line) => sink.redact(line)) };
    await sink.write(errorText(safe, await sink.paint(), sink.width));
  }
  return exitCode;
}

/** Maximum number of lines that a terminal shows, because more would scroll the error itself off the screen. */
const maxLines = 20;

/**
 * Returns the first lines, and a line that says how many more there are. If there is only one more, returns all lines.
 */
function firstOf(lines: readonly string[]): readonly string[] {
  if (lines.length <= maxLines + 1) return lines;
  const more = grouped(lines.length - maxLines);
  const rest = `… and ${more} more lines. To see all of them, run the command again with 2> errors.txt`;
  return [...lines.slice(0, maxLines), rest];
}

/** Returns the stack trace of an error with a bar in front of each line, because it may quote the service. */
function stackText({ stack = '' }: Error, sink: Sink): string {
  return barred(stripControlsFromBody(sink.redact(stack)), sink.width).join('\n');
}

function wantsJson({ json, output }: SharedOptions): boolean {
  return json === true || output === 'json' || output === 'ndjson';
}

/** Converts an error that is not a PetstockError, such as a full disk, a lack of memory, or a bug in petstock. */
async function defect(thrown: unknown): Promise<PetstockError> {
  const { code, message } = thrown as NodeJS.ErrnoException;
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) {
    return new FailureError(systemFailureText(thrown) ?? message, { cause: thrown });
  }
  const shortage = memoryShortage(thrown);
  if (shortage !== undefined) return shortage;
  return new FailureError(
    `This is a bug in petstock. Please report it: ${message}. To see where it happened, add --debug`,
    { cause: thrown },
  );
}

/**
 * Returns the message with facts that are only known here: that nothing was written, when requests are possible again,
 * or where the key came from.
 */
async function completeMessage(error: PetstockError, options: ReportOptions): Promise<string> {
  const { context, invocation } = options;
  if (error instanceof InterruptedError && (await hasWrittenNothing(error, options))) {
    return 'Interrupted. Nothing was written.';
  }
  const day = error.day ?? (error.cause instanceof PetstockError ? error.cause.day : undefined);
  if (day !== undefined) {
    const at = minuteOf(localTime(day.resetAt, context.clock.now()));
    return `${sentence(capitalized(error.message))} Requests are possible again at ${at}.`;
  }
  const isRateLimited = error instanceof RateLimitedError;
  if (error.retryAfterSeconds && (isRateLimited || error instanceof UnavailableError)) {
    const now = context.clock.now();
    const at = localTime(now + error.retryAfterSeconds * 1000, now);
    const why = isRateLimited ? `Rate limited: ${uncapitalized(error.message)}` : error.message;
    return `${sentence(why)} Requests are possible again in ${formatDuration(error.retryAfterSeconds)}, at ${at}.`;
  }
  if (error instanceof AuthError && error.status === 401 && invocation) {
    const source = error.keySource ?? keySource(error, invocation);
    return source ? `${sentence(error.message)} The key came from: ${source}.` : error.message;
  }
  return error.message;
}

/**
 * Reports whether a command that sends requests was interrupted before it sent a write. False for an interrupted run,
 * which has a message of its own.
 */
async function hasWrittenNothing({ message }: InterruptedError, { command, invocation }: ReportOptions) {
  const mayWrite = /^(inventory|undo|pets|orders|api)\b/.test(command);
  if (!mayWrite || (message !== 'Interrupted' && message !== interruptedAsking)) return false;
  return (await invocation?.connections.hasSentWrite()) === false;
}

/**
 * Returns where the key came from, for the target that the error is about; undefined if it has none, and for the
 * sandbox.
 */
function keySource(error: PetstockError, invocation: Invocation): string | undefined {
  const { store, env } = error.target ?? invocation.target;
  const name = remoteEnvironmentNames.find((known) => known === env);
  return name && resolveKey(name, invocation.context.env, configOf(invocation.configFile, store))?.source;
}

function defaultHint(error: PetstockError, { command, invocation }: ReportOptions): string | undefined {
  const target = error.target ?? invocation?.target ?? { env: 'staging' };
  const options = targetWords(target);
  if (error instanceof InterruptedError) return undefined;
  if (error instanceof RateLimitedError) return 'petstock limits';
  const isOfAddress = error instanceof UnavailableError || error.status === 404;
  if (isOfAddress) {
    return target.env === 'sandbox' || command.startsWith('sandbox') ? undefined : petstock`status ${options}`;
  }
  if (error instanceof NotFoundError) return petstock`inventory list ${options}`;
  if (error instanceof AuthError) {
    const stored = invocation !== undefined && keySource(error, invocation) === fromFile;
    return stored ? petstock`config set-key ${options}` : 'petstock config list';
  }
  return undefined;
}

/** Returns the texts of a usage error, which may repeat any typed word, with `[not shown]` for each key. */
function withoutTypedKeys<Texts extends Pick<PetstockError, 'message' | 'lines' | 'hint'>>(
  texts: Texts,
  env: Readonly<Record<string, string | undefined>>,
): Texts {
  const known = Object.keys(env).flatMap((name) => (/^PETSTOCK_(.*_)?API_KEY/.test(name) && env[name]) || []);
  const hide = (text: string) => withoutKeys(text, known);
  const message = hide(texts.message);
  const lines = texts.lines.map(hide);
  const isHintSame = texts.hint === undefined || hide(texts.hint) === texts.hint;
  const isSame = message === texts.message && lines.every((line, index) => line === texts.lines[index]);
  // If only the hint contains the key, the error is about something else: it gets no hint rather than one about keys.
  if (isSame) return { ...texts, hint: isHintSame ? texts.hint : undefined };
  const hint = isHintSame ? texts.hint : 'petstock config set-key';
  return { ...texts, message, lines: [...lines, `${keyInHistory}.`], hint };
}
