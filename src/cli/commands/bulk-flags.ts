import type { Command } from 'commander';
import { UsageError } from '../../shared/errors.ts';
import type { Invocation } from '../invocation/invocation.ts';
import type { PlanOptions } from '../runs/perform.ts';

/** The options of every bulk write, as Commander gives them. */
export interface BulkFlags {
  readonly dryRun?: boolean;
  readonly exitCode?: boolean;
  readonly failFast?: boolean;
  readonly concurrency?: string;
  readonly maxChanges?: string;
  readonly maxZero?: string;
  readonly changed?: boolean;
}

const defaultConcurrency = 16;
const maxConcurrency = 64;

export function bulkFlags(command: Command): Command {
  return command
    .option('--dry-run', 'show the plan and write nothing')
    .option('--exit-code', 'with --dry-run: exit with code 3 if anything would be written')
    .option('--max-changes <n>', 'refuse a plan that changes more rows than this (setting max-changes)')
    .option('--max-zero <n>', 'refuse a plan that sets more rows to 0 or below than this (setting max-zero)')
    .option('--fail-fast', 'stop after the first row that cannot be written')
    .option('--changed', 'leave rows that need no change out of the report')
    .option('--concurrency <n>', `requests in flight at once, 1 to ${maxConcurrency} (default: ${defaultConcurrency})`);
}

/** Reports whether an option is given that a plan has, and a single write has not. */
export function isPlanned({
  dryRun,
  exitCode,
  failFast,
  concurrency,
  maxChanges,
  maxZero,
  changed,
}: BulkFlags): boolean {
  return [dryRun, exitCode, failFast, concurrency, maxChanges, maxZero, changed].some((flag) => flag !== undefined);
}

/** @throws UsageError for the first that makes no sense */
export function parseBulkFlags({ config }: Invocation, flags: BulkFlags): Omit<PlanOptions, 'stdinIsTaken'> {
  const { dryRun = false, exitCode = false, failFast = false, changed: changedOnly = false } = flags;
  if (exitCode && !dryRun) throw new UsageError('--exit-code goes with --dry-run');
  const concurrency = wholeNumber('--concurrency', flags.concurrency) ?? defaultConcurrency;
  if (concurrency < 1 || concurrency > maxConcurrency) {
    throw new UsageError(`--concurrency takes a number from 1 to ${maxConcurrency}`);
  }
  const { settings } = config;
  const guards = {
    maxChanges: wholeNumber('--max-changes', flags.maxChanges) ?? settings['max-changes'],
    maxZero: wholeNumber('--max-zero', flags.maxZero) ?? settings['max-zero'],
  };
  return { dryRun, exitCode, failFast, changedOnly, concurrency, guards };
}

/** Returns undefined if the option is absent. */
function wholeNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(`${option} takes a whole number from 0, such as 100; not "${text}"`);
}
