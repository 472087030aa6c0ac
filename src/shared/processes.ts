import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, platform } from 'node:os';

/** The properties that distinguish a process from every other, as far as other processes can check them. */
export interface ProcessIdentity {
  readonly host: string;
  /** The pid namespace of `pid`; two containers of one host have different ones. Empty if the system has none. */
  readonly namespace: string;
  /** The machine's boot id, see `Clock.boot`. */
  readonly boot: string;
  readonly pid: number;
  /**
   * When the process started, in the system's unit: no two processes share a pid and this value. Empty if not known.
   */
  readonly startedAt: string;
}

export interface Processes {
  readonly self: ProcessIdentity;
  /**
   * Reports whether a process is certainly gone: it had this process's host, boot and pid namespace, and no process has
   * its pid and start time. If this is false, only the end of its lease shows that it is gone.
   */
  isGone(process: ProcessIdentity): boolean;
  /**
   * Reports whether the system shows a process as stopped (SIGSTOP, Ctrl-Z, a debugger), for messages. False is
   * inconclusive; it is always false without `/proc`.
   */
  isStopped(process: ProcessIdentity): boolean;
}

export interface SystemProcessesOptions {
  readonly pid: number;
  boot(): string;
  /**
   * Sends a signal, like `process.kill`.
   * @throws an error with the code ESRCH if there is no such process
   */
  kill(pid: number, signal: 0): unknown;
  readonly proc?: string;
  readonly system?: NodeJS.Platform;
}

/**
 * Creates the access to the processes of this machine. `bin` calls this; everything else receives the
 * result.
 */
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
      // EPERM: a process of another user is running.
      return (error as NodeJS.ErrnoException).code !== 'ESRCH';
    }
  };
  const isBeside = ({ host, boot, namespace }: ProcessIdentity): boolean => {
    // Linux without a process file system does not show which namespace a pid belongs to: a container may share the
    // name of the host.
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

/** Returns a name like `pid:[4026531836]`. All processes that see each other by the same pids have the same name. */
function namespaceOf(proc: string): string {
  try {
    return readlinkSync(`${proc}/self/ns/pid`);
  } catch {
    return '';
  }
}

/** Reads the state (field 3) and the start (22) of a process. Field 2, its name, may contain spaces and parentheses. */
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
