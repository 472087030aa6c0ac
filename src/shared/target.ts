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

/** Reports whether commands have an environment of this name. A run of the library may have any name for its own. */
export function isEnvironment(env: string): env is EnvironmentName {
  return environmentNames.some((known) => known === env);
}
