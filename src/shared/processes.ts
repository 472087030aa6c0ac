/** The facts that tell one process from every other, as far as a process beside it can check. */
export interface ProcessIdentity {
  readonly host: string;
  /** The pid namespace that `pid` counts in: two containers of one host have two. Empty where the system has none. */
  readonly namespace: string;
  /** Names the start of the machine, as `Clock.boot` does. */
  readonly boot: string;
  readonly pid: number;
  /** When it started, in the system's own unit: a pid is used again, a pid and its start are not. Empty where unknown. */
  readonly startedAt: string;
}

export interface Processes {
  readonly self: ProcessIdentity;
  /**
   * True only where it is certain: same host, same boot, same pid namespace, and no process of that pid and start.
   * False says nothing: only the end of its lease does.
   */
  isGone(process: ProcessIdentity): boolean;
  /** True only where the system says that it is stopped (SIGSTOP, Ctrl-Z, a debugger): for messages. */
  isStopped(process: ProcessIdentity): boolean;
}
