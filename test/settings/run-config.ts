import { createTestClock } from '../support/clock.ts';
import type { RunResult } from '../support/context.ts';
import { runMain } from '../support/context.ts';

export interface Surroundings {
  readonly folder: string;
  readonly env?: Record<string, string>;
  readonly stdin?: string | Uint8Array;
  /** What is typed at the hidden question; stdin is a terminal only where this is given. */
  readonly typed?: string;
}

export interface Outcome extends RunResult {
  readonly questions: readonly string[];
}

/** Runs a `config` command, which sends nothing, on the configuration in a folder. */
export async function runConfig(args: readonly string[], around: Surroundings): Promise<Outcome> {
  const { folder, env, stdin, typed } = around;
  const questions: string[] = [];
  const result = await runMain(args, {
    clock: createTestClock(),
    folders: { config: folder, state: folder },
    env,
    stdin,
    terminal: typed === undefined ? undefined : 80,
    terminals: ['stdin', 'stderr'],
    prompts: {
      password: async (question) => {
        questions.push(question);
        return typed ?? '';
      },
    },
  });
  return { ...result, questions };
}
