/** Requests that a key may make per window. Exact int64. */
export interface Limits {
  readonly minute: bigint;
  readonly day: bigint;
}

/** The plans whose limits the specification gives. Enterprise keys carry limits of their own. */
export type Plan = 'free' | 'pro' | 'business';

export const PLANS: Readonly<Record<Plan, Limits>> = {
  free: { minute: 60n, day: 1_000n },
  pro: { minute: 300n, day: 10_000n },
  business: { minute: 1_000n, day: 100_000n },
};
