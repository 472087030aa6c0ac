import type { Command } from 'commander';
import type { Run } from '../invocation/invocation.ts';

/** Adds to a command what only its own help and its run need: operands, description, options, examples, action. */
export type Define = (command: Command, run: Run) => void;

/** The line of a command in the help of its parent, and where the rest of it is. */
export interface VerbOutline {
  /** Its name and its operands, as the help of its parent shows them: `set <petId> <quantity>`. */
  readonly usage: string;
  readonly summary: string;
  /** Imports the file of the command. Called once the command is chosen. */
  load(): Promise<Define>;
}

/** A noun and its commands. */
export interface NounOutline {
  /** Its name. */
  readonly usage: string;
  readonly summary: string;
  readonly description: string;
  /** Shown under its help. */
  readonly examples?: string;
  readonly commands: readonly Outline[];
}

export type Outline = VerbOutline | NounOutline;

/** Its name, without its operands. */
export function outlineName({ usage }: Outline): string {
  return usage.replace(/ .*/, '');
}
