import { UsageError } from '../../../shared/errors.ts';

/** A limit that is never reached. */
const unlimited = Number.MAX_SAFE_INTEGER;

/** Returns a whole number. @throws UsageError if the text is not one, or out of range */
export function count(option: string, text: string, least: number, most = unlimited): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  const range = most === unlimited ? `from ${least}` : `from ${least} to ${most}`;
  throw new UsageError(`${option} takes a whole number ${range}; not "${text}"`);
}

export interface LimitOptions {
  readonly limitMinute?: string | undefined;
  readonly limitDay?: string | undefined;
}

/** Returns the limits of an enterprise key; undefined if neither is given. */
export function limitsOf({ limitMinute, limitDay }: LimitOptions): { minute: number; day: number } | undefined {
  if (limitMinute === undefined && limitDay === undefined) return undefined;
  return {
    minute: limitMinute === undefined ? unlimited : count('--limit-minute', limitMinute, 0),
    day: limitDay === undefined ? unlimited : count('--limit-day', limitDay, 0),
  };
}

export const plans = ['free', 'pro', 'business'] as const;

/** @throws UsageError if there is no such plan */
export function planOf(text: string): (typeof plans)[number] {
  const plan = plans.find((known) => known === text);
  if (plan === undefined) throw new UsageError(`--plan takes ${plans.join(', ')}; not "${text}"`);
  return plan;
}
