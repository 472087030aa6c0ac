import { type ColorChoice, isColorChoice } from '../../output/paint.ts';
import { type Format, formats, isFormat } from '../../output/view.ts';
import type { StoredConfig } from '../../settings/settings.ts';
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
  /** False: text that looks like a formula is neutralised in CSV. */
  readonly raw?: boolean;
  readonly color?: string;
  readonly timeout?: string;
  readonly maxWait?: string;
}

const defaultTimeout = 30;
const defaultMaxWait = 90;
const defaultRetries = 4;
/** What a timer of Node can hold, and longer than any window. */
const longestSeconds = 2_000_000;

/** @throws UsageError for an unknown format, or two that differ */
export function resolveFormat(globals: GlobalOptions, config: StoredConfig, isTerminal: boolean): Format {
  const { output, json } = globals;
  if (output !== undefined && !isFormat(output)) {
    throw new UsageError(`Invalid output format "${output}"; valid are ${formats.join(', ')}`, {
      hint: 'petstock help output',
    });
  }
  if (json && output !== undefined && output !== 'json') {
    throw new UsageError(`--json and -o ${output} cannot be used together; leave one out`, {
      hint: 'petstock help output',
    });
  }
  if (json) return 'json';
  return output ?? config.settings.output ?? (isTerminal ? 'table' : 'tsv');
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
