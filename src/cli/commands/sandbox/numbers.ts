import { UsageError } from '../../../shared/errors.ts';

/** A limit that is never reached. */
export const unlimited = Number.MAX_SAFE_INTEGER;

/** A whole number, or undefined where the option is absent. @throws UsageError when it is not one, or out of range */
export function count(option: string, text: string | undefined, least: number, most = unlimited): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  const range = most === unlimited ? `from ${least}` : `from ${least} to ${most}`;
  throw new UsageError(`${option} takes a whole number ${range}; not "${text}"`);
}

export interface LimitOptions {
  readonly limitMinute?: string | undefined;
  readonly limitDay?: string | undefined;
}

/** The limits of an enterprise key; undefined where neither is given. */
export function limitsOf({ limitMinute, limitDay }: LimitOptions): { minute: number; day: number } | undefined {
  const minute = count('--limit-minute', limitMinute, 0);
  const day = count('--limit-day', limitDay, 0);
  if (minute === undefined && day === undefined) return undefined;
  return { minute: minute ?? unlimited, day: day ?? unlimited };
}

export const plans = ['free', 'pro', 'business'] as const;

/** @throws UsageError when there is no such plan */
export function planOf(text: string): (typeof plans)[number] {
  const plan = plans.find((known) => known === text);
  if (plan === undefined) throw new UsageError(`--plan takes ${plans.join(', ')}; not "${text}"`);
  return plan;
}
