import { expect, test as plain } from 'vitest';
import { configFile, readConfig } from '../../src/settings/config-file.ts';
import { createTestClock } from '../support/clock.ts';
import { type RunResult, runMain } from '../support/context.ts';
import { newFolder } from '../support/new-folder.ts';

interface Surroundings {
  readonly env?: Record<string, string>;
  readonly stdin?: string | Uint8Array;
  /** The answer to a hidden question. Only if it is set, stdin is a terminal. */
  readonly typed?: string;
}

function openConfiguration() {
  const folder = newFolder();
  const file = configFile(folder);
  /** Runs `petstock config`. @returns the result, and the questions that were asked */
  async function run(command: string, { env, stdin, typed }: Surroundings = {}) {
    const questions: string[] = [];
    const password = async (question: string) => {
      questions.push(question);
      return typed ?? '';
    };
    const result: RunResult = await runMain(['config', ...command.split(' ')], {
      clock: createTestClock(),
      folders: { config: folder, state: folder },
      env,
      stdin,
      prompts: { password },
      terminal: typed === undefined ? undefined : 80,
      terminals: ['stdin', 'stderr'],
    });
    return { ...result, questions };
  }
  /** Expects success without output on stdout. @returns stderr, with FILE for the path of the file */
  async function says(command: string, given?: Surroundings): Promise<string> {
    const { code, stdout, stderr } = await run(command, given);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr });
    return stderr.replace(file, 'FILE');
  }
  return { file, run, says, stored: async () => (await readConfig(folder)).config };
}

export const test = plain.extend('config', () => openConfiguration());
