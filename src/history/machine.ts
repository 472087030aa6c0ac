import type { Context, Processes } from '../cli/context.ts';
import type { Writer } from './file-records.ts';

/** The processes of this machine, as the context knows them. */
export interface Machine extends Processes {
  /** Names the start of the machine, as the clock does. */
  readonly boot: string;
}

export function machineOf({ clock, processes }: Context): Machine {
  return { ...processes, boot: clock.boot() };
}

/**
 * The files that this process writes. A fact about the process, as its number is: only so can it tell itself from one that
 * had its number before, which in a container is every one before.
 */
const openHere = new Set<string>();

/** @returns false where this process writes the file already */
export function beginWriting(path: string): boolean {
  const isNew = !openHere.has(path);
  openHere.add(path);
  return isNew;
}

export function endWriting(path: string): void {
  openHere.delete(path);
}

/** Whether a process that has not said that it stopped is still there to write the file. */
export function isWriting({ pid, boot }: Writer, path: string, machine: Machine): boolean {
  if (boot !== machine.boot) return false;
  return pid === machine.pid ? openHere.has(path) : machine.isAlive(pid);
}
