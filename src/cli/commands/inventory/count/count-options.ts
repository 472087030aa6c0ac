import type { CountMode } from '../../../../counts/session-tables.ts';
import { UsageError } from '../../../../shared/errors.ts';
import { shellWord } from '../../../../shared/where.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import type { PlanOptions } from '../../../runs/perform.ts';
import { type BulkFlags, parseBulkFlags, requireFileName } from '../../values.ts';

/** The options of the command, as Commander gives them. */
export interface CountFlags extends BulkFlags {
  readonly new?: boolean;
  readonly merge?: readonly string[];
  readonly list?: boolean;
  readonly discard?: string;
  readonly add?: boolean;
  readonly take?: boolean;
  readonly codes?: string;
  readonly all?: boolean;
  readonly to?: string;
  readonly force?: boolean;
  readonly reason?: string;
  readonly ref?: string;
}

export interface CountOptions extends Omit<PlanOptions, 'stdinIsTaken' | 'keepFailed'> {
  readonly session: string | undefined;
  readonly isNew: boolean;
  readonly merge: readonly string[] | undefined;
  /** undefined: of a session that goes on, its own; of a new one `count`. */
  readonly mode: CountMode | undefined;
  /** A file of bar codes. */
  readonly codes: string | undefined;
  /** Pets that were not scanned are counted as zero. */
  readonly all: boolean;
  /** A change file to write, instead of the stock. */
  readonly to: string | undefined;
  readonly force: boolean;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
  /** The options for a hint, each with a blank before it: without them a command would make another plan. */
  readonly words: string;
  /** Those for a session that keeps its bar codes. */
  readonly keptWords: string;
  /** Those for a session with what the run of one has not written. */
  readonly restWords: string;
}

/** Throws UsageError for options that can't be used together. */
export function parseCountFlags(invocation: Invocation, flags: CountFlags, session: string | undefined): CountOptions {
  const { merge, codes, all = false, to, force = false, reason, ref } = flags;
  const isNew = flags.new === true;
  if ([session !== undefined, isNew, merge !== undefined].filter(Boolean).length > 1) {
    throw new UsageError('A session, --new and --merge cannot be used together: leave out all but one');
  }
  if (flags.add && flags.take) throw new UsageError('--add and --take cannot be used together: leave one out');
  const mode = flags.add ? 'add' : flags.take ? 'take' : undefined;
  if (mode !== undefined && all) {
    throw new UsageError(`--all goes with a count of the whole shop: leave it out, or --${mode}`);
  }
  if (codes !== undefined) requireFileName(codes, '--codes');
  if (codes === '-') throw new UsageError('--codes takes a file: what is scanned comes from stdin');
  const bulk = parseBulkFlags(invocation, flags);
  const { codes: _codes, ...kept } = flags;
  const { all: _all, ...ofRest } = kept;
  const words = { words: wordsOf(flags), keptWords: wordsOf(kept), restWords: wordsOf(ofRest) };
  return { ...bulk, session, isNew, merge, mode, codes, all, to, force, reason, ref, ...words };
}

/** Returns the command that counts `chosen`, ` k3x9` or ` --new`, with options of this one. */
export function commandFor(chosen: string, words: string, place: string): string {
  return `petstock inventory count${chosen}${words} ${place}`;
}

/** Returns what the command was given to count. */
export function chosenWords({ session, isNew, merge = [] }: CountOptions): string {
  const chosen = [session ?? [], isNew ? '--new' : [], merge.length > 0 ? ['--merge', ...merge] : []].flat();
  return chosen.map((word) => ` ${shellWord(word)}`).join('');
}

function wordsOf(flags: CountFlags): string {
  const { add, take, codes, all, to, force, reason, ref, dryRun, exitCode, failFast, concurrency } = flags;
  const words: Readonly<Record<string, string | boolean | undefined>> = {
    ...{ add, take, codes, all, to, force, reason, ref, 'dry-run': dryRun, 'exit-code': exitCode },
    ...{ 'max-changes': flags.maxChanges, 'max-zero': flags.maxZero, 'fail-fast': failFast, concurrency },
  };
  return Object.entries(words)
    .map(([name, value]) => {
      if (value === undefined || value === false) return '';
      return value === true ? ` --${name}` : ` ${optionWord(name, value)}`;
    })
    .join('');
}

/** A value that begins with a dash would be taken for an option. */
function optionWord(name: string, value: string): string {
  return /^-./.test(value) || value === '' ? shellWord(`--${name}=${value}`) : `--${name} ${shellWord(value)}`;
}
