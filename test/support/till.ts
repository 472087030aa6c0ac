import type { Clock } from '../../src/shared/clock.ts';
import { createTestClock, type TestClock } from './clock.ts';
import type { RunResult } from './context.ts';
import { killableState } from './killed-state.ts';
import type { ListedRun } from './petstock.ts';
import { type Action, type ScriptedOptions, type ScriptedService, scriptedService } from './scripted-service.ts';
import {
  changeFile,
  type PrintedRow,
  type Shop,
  shopOf,
  test as shopTest,
  temporaryFolders,
  type Variables,
} from './shop.ts';

/** A till: the program in this process, with a scripted service and a test clock. */
export interface Till<Time extends Clock = TestClock> extends Shop<ScriptedService, Time> {
  file(name: string, text: string): string;
  /** Returns the rows that `--json` has printed, or those of the newest run. */
  rows(result?: RunResult): Promise<readonly PrintedRow[]>;
  /** Returns the runs of `history list`, newest first. */
  history(): Promise<readonly ListedRun[]>;
}

/**
 * @param clock the clock of the program and of the service; default: a test clock. Tills that share a database need the
 * system's clock, since the database has a clock of its own
 */
export async function openTill(
  options: Omit<ScriptedOptions, 'now'>,
  clock: Clock,
  env?: Variables,
): Promise<Till<Clock>>;
export async function openTill(options?: Omit<ScriptedOptions, 'now'>): Promise<Till>;
export async function openTill(
  options: Omit<ScriptedOptions, 'now'> = {},
  clock: Clock = createTestClock(),
  env: Variables = {},
): Promise<Till<Clock>> {
  const service = await scriptedService({ ...options, now: () => clock.now() });
  const folders = await temporaryFolders();
  const shop = shopOf({ service, clock, folders, env: { ...service.env, ...env } });
  const history = (): Promise<readonly ListedRun[]> => shop.json('history list --json');
  return {
    ...shop,
    history,
    file: (name, text) => changeFile(shop, text, name),
    rows: async (result) => {
      if (result !== undefined) return JSON.parse(result.stdout).rows;
      const [newest] = await history();
      return (await shop.json(`history show ${newest?.run} --json`)).rows;
    },
  };
}

/** A test that gets a till as `openTill()` opens it, or a shop. */
export const test = shopTest.extend('till', () => openTill());

/**
 * Stops a command for ever once it has sent its first PATCH, as if it had been killed.
 * @param action what the service does with that PATCH
 * @param ms how far the clock advances then; after a minute, no request can be under way any more
 * @returns the id of its run
 */
export async function killAt(
  { service, run, clock, history }: Till,
  action: Action,
  command: string,
  ms = 60_000,
): Promise<string> {
  service.next('PATCH', action);
  const sent = service.seen('PATCH').length;
  const { openState, kill } = killableState();
  let isDead = false;
  const onSent = ({ method }: { readonly method: string }) => {
    isDead ||= method === 'PATCH';
  };
  void run(command, {
    openState,
    onSent,
    around: (send) => {
      const answer = send();
      answer.catch(() => {});
      return isDead ? new Promise(() => {}) : answer;
    },
  });
  await service.untilSeen('PATCH', sent + 1);
  await kill();
  clock.advance(ms);
  const [newest] = await history();
  if (newest === undefined) throw new Error('there is no run in the history');
  return newest.run;
}
