/** Where a command goes: an environment, of one of several stores or of the one without a name. */
export interface Target {
  /** Undefined: the store without a name. */
  readonly store?: string | undefined;
  readonly env: string;
}

/** Returns the name that people are shown: `north/staging`, or `staging` for the store without a name. */
export function targetName({ store, env }: Target): string {
  return store === undefined ? env : `${store}/${env}`;
}
