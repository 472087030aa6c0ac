export const environmentNames = ['staging', 'production', 'sandbox'] as const;
export type EnvironmentName = (typeof environmentNames)[number];

/** Where a command goes: an environment of one of several stores, or of the store without a name. */
export interface Target {
  /** Undefined for the store without a name. */
  readonly store?: string | undefined;
  readonly env: string;
}

/** Returns the name for people: `north/staging`, or `staging` for the store without a name. */
export function targetName({ store, env }: Target): string {
  return store === undefined ? env : `${store}/${env}`;
}

/** Reports whether a command can address the target: runs of a library have any name that its program chose. */
export function isEnvironment(env: string): env is EnvironmentName {
  return environmentNames.some((known) => known === env);
}
