import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, platform } from 'node:os';

/** The facts that tell one process from every other, as far as a process beside it can check. */
export interface ProcessIdentity {
  readonly host: string;
  /** The pid namespace that `pid` counts in: two containers of one host have two. Empty if the system has none. */
  readonly namespace: string;
  /** Names the start of the machine, as `Clock.boot` does. */
  readonly boot: string;
  readonly pid: number;
  /** When it started, in the system's own unit: a pid is used again, a pid and its start are not. Empty if unknown. */
  readonly startedAt: string;
}

export interface Processes {
  readonly self: ProcessIdentity;
  /**
   * True only if certain: same host, boot and pid namespace, and no process with that pid and start time. False is
   * inconclusive: then only the end of its lease counts.
   */
  isGone(process: ProcessIdentity): boolean;
  /** True only if the system says that it is stopped (SIGSTOP, Ctrl-Z, a debugger): for messages. */
  isStopped(process: ProcessIdentity): boolean;
}

export interface SystemProcessesOptions {
  readonly pid: number;
  /** As `Clock.boot`. */
  boot(): string;
  /** `process.kill`. @throws an error with the code ESRCH if there is no such process */
  kill(pid: number, signal: 0): unknown;
  /** Where the process file system is; default `/proc`. */
  readonly proc?: string;
  /** As `os.platform()` returns it, which is the default. */
  readonly system?: NodeJS.Platform;
}

/** The processes of this machine. `bin` and the library make it; everything else is given one. */
export function createSystemProcesses(options: SystemProcessesOptions): Processes {
  const { pid, kill, proc = '/proc', system = platform() } = options;
  let own: ProcessIdentity | undefined;
  const self = (): ProcessIdentity => {
    own ??= {
      ...{ host: hostname(), namespace: namespaceOf(proc), boot: options.boot(), pid },
      startedAt: statOf(proc, pid)?.startedAt ?? '',
    };
    return own;
  };
  const isThere = (other: number): boolean => {
    try {
      kill(other, 0);
      return true;
    } catch (error) {
      // EPERM: one that belongs to another user runs, too.
      return (error as NodeJS.ErrnoException).code !== 'ESRCH';
    }
  };
  const isBeside = ({ host, boot, namespace }: ProcessIdentity): boolean => {
    // Linux without a process file system does not say whose pids these are: a container may share the name of the host.
    if (system === 'linux' && namespace === '') return false;
    return host === self().host && boot === self().boot && namespace === self().namespace;
  };

  return {
    get self() {
      return self();
    },
    isGone: (process) => {
      if (!isBeside(process)) return false;
      if (!isThere(process.pid)) return true;
      if (process.startedAt === '') return false;
      const stat = statOf(proc, process.pid);
      return stat !== undefined && stat.startedAt !== process.startedAt;
    },
    isStopped: (process) => {
      if (!isBeside(process)) return false;
      const stat = statOf(proc, process.pid);
      return stat?.startedAt === process.startedAt && /^[Tt]$/.test(stat.state);
    },
  };
}

/** `pid:[4026531836]`: the same for all processes that see each other by the same number. */
function namespaceOf(proc: string): string {
  try {
    return readlinkSync(`${proc}/self/ns/pid`);
  } catch {
    return '';
  }
}

/** The third field of `stat` is the state, the 22nd the start. The second is a name that may have blanks and parentheses in it. */
function statOf(proc: string, pid: number): { readonly state: string; readonly startedAt: string } | undefined {
  try {
    const text = readFileSync(`${proc}/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state, startedAt] = [fields[0], fields[19]];
    return state === undefined || startedAt === undefined ? undefined : { state, startedAt };
  } catch {
    return undefined;
  }
}
