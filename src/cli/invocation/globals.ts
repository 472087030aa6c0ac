import { type ColorChoice, isColorChoice } from '../../output/paint.ts';
import { type Format, formats, isFormat } from '../../output/view.ts';
import type { StoredConfig } from '../../settings/config-file.ts';
import { UsageError } from '../../shared/errors.ts';

/** The global options as Commander parsed them; not yet validated against settings. */
export interface GlobalOptions {
  readonly env?: string;
  readonly store?: string;
  readonly output?: string;
  readonly header?: boolean;
  readonly json?: boolean;
  readonly stringIds?: boolean;
  /** False: `--no-pager`. */
  readonly pager?: boolean;
  readonly yes?: boolean;
  readonly quiet?: boolean;
  readonly debug?: boolean;
  readonly 'debug=json'?: boolean;
  readonly retries?: string;
  /** CSV: text that looks like a formula stays as it is. */
  readonly raw?: boolean;
  /** Of a command that has `--fields`. */
  readonly fields?: readonly string[];
  readonly color?: string;
  readonly timeout?: string;
  readonly maxWait?: string;
}

const defaultTimeout = 30;
const defaultMaxWait = 90;
const defaultRetries = 4;
/** The most that a timer of Node can hold, and longer than any window. */
const longestSeconds = 2_000_000;

/** Commands whose result can be a page to print. */
const withPage = ['inventory list', 'history list', 'history show'];

/** @throws UsageError for an unknown format, one that the command does not have, or two that differ */
export function resolveFormat(
  globals: GlobalOptions,
  config: StoredConfig,
  isTerminal: boolean,
  command: string,
): Format {
  const { output, json } = globals;
  const isPage = output === 'html';
  if (output !== undefined && !isFormat(output) && !(isPage && withPage.includes(command))) {
    const valid = [...formats, ...(withPage.includes(command) ? ['html'] : [])].join(', ');
    const fault = isPage
      ? `-o html is for ${withPage.join(', ')}`
      : `Invalid output format "${output}"; valid are ${valid}`;
    throw new UsageError(fault, { hint: 'petstock help output' });
  }
  if (json && output !== undefined && output !== 'json') {
    throw new UsageError(`--json and -o ${output} cannot be used together; leave one out`, {
      hint: 'petstock help output',
    });
  }
  if (json) return 'json';
  return (output as Format | undefined) ?? config.settings.output ?? (isTerminal ? 'table' : 'tsv');
}

/** @returns milliseconds */
export function resolveTimeout(text: string | undefined): number {
  const seconds = parseSeconds('--timeout', text, defaultTimeout);
  if (seconds === 0) throw new UsageError('--timeout has to be more than 0 seconds');
  return seconds * 1000;
}

/** @returns milliseconds */
export function resolveMaxWait(text: string | undefined): number {
  return parseSeconds('--max-wait', text, defaultMaxWait) * 1000;
}

/** @throws UsageError */
export function resolveRetries(text: string | undefined): number {
  if (text === undefined) return defaultRetries;
  if (/^\d{1,2}$/.test(text)) return Number(text);
  throw new UsageError(`--retries takes a whole number from 0 to 99; not "${text}"`);
}

function parseSeconds(option: string, text: string | undefined, standard: number): number {
  if (text === undefined) return standard;
  const seconds = /^\d{1,10}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds <= longestSeconds)) {
    throw new UsageError(`${option} takes a number of seconds, such as ${standard}; not "${text}"`);
  }
  return seconds;
}

/** @throws UsageError */
export function resolveColorFlag(text: string | undefined): ColorChoice {
  if (text === undefined) return 'auto';
  if (isColorChoice(text)) return text;
  throw new UsageError(`--color takes auto, always or never; not "${text}"`);
}
