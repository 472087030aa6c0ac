export const environmentNames = ['staging', 'production', 'sandbox'] as const;
export type EnvironmentName = (typeof environmentNames)[number];

/** The store and the environment that a command works on. */
export interface Target {
  /** Undefined for the store without a name. */
  readonly store?: string | undefined;
  readonly env: string;
}

/** Returns the name for people: `north/staging`, or `staging` for the store without a name. */
export function targetName({ store, env }: Target): string {
  return store === undefined ? env : `${store}/${env}`;
}
