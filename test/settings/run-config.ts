import { test as plain } from 'vitest';
import { configFile, readConfig } from '../../src/settings/config-file.ts';
import { createTestClock } from '../support/clock.ts';
import { type RunResult, runMain } from '../support/context.ts';
import { newFolder } from '../support/new-folder.ts';

export interface Surroundings {
  readonly env?: Record<string, string>;
  readonly stdin?: string | Uint8Array;
  /** What is typed at the hidden question; stdin is a terminal only where this is given. */
  readonly typed?: string;
}

/** The configuration in a new folder. */
function openConfiguration() {
  const folder = newFolder();
  return {
    file: configFile(folder),
    stored: () => readConfig(folder).config,
    /** Runs `petstock config` with these words; it sends nothing. @returns with the questions that were asked */
    run: async (command: string, { env, stdin, typed }: Surroundings = {}) => {
      const questions: string[] = [];
      const password = async (question: string) => {
        questions.push(question);
        return typed ?? '';
      };
      const result: RunResult = await runMain(['config', ...command.split(' ')], {
        ...{ clock: createTestClock(), folders: { config: folder, state: folder }, env, stdin, prompts: { password } },
        ...{ terminal: typed === undefined ? undefined : 80, terminals: ['stdin', 'stderr'] },
      });
      return { ...result, questions };
    },
  };
}

/** A test that is given an empty configuration. */
export const test = plain.extend('config', () => openConfiguration());
