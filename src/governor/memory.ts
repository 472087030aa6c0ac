/** What is remembered of one key at one service, between commands. */
export interface KeyState {
  /** The environment under which the key was last used, for people. */
  readonly env: string;
  readonly limit: bigint;
  readonly remaining: bigint;
  /** End of the window by the local clock: milliseconds since the Unix epoch. */
  readonly resetAt: number;
  /** When the service said so, by the local clock: milliseconds since the Unix epoch. */
  readonly asOf: number;
}

/** Where the state of a key is kept, so that the next command knows what the last one was told. */
export interface LimitsMemory {
  /** The last limits that the service told, of one key. */
  limits(): KeyState | undefined;
  rememberLimits(state: KeyState): void;
  /** Nothing may be sent before this time of the local clock: milliseconds since the Unix epoch; 0 for no gate. */
  gate(): number;
  /** Raises the gate; a gate is never lowered. */
  raiseGate(until: number): void;
}

/** Memory for this process alone. */
export function createTransientMemory(): LimitsMemory {
  let limits: KeyState | undefined;
  let gate = 0;
  return {
    limits: () => limits,
    rememberLimits: (state) => {
      limits = state;
    },
    gate: () => gate,
    raiseGate: (until) => {
      gate = Math.max(gate, until);
    },
  };
}
