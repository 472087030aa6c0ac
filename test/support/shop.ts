import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, test as plain } from 'vitest';
import { type RunningService, type ServiceOptions, startService } from '../../src/service/index.ts';
import { createTestClock, type TestClock } from './clock.ts';
import { type RunOptions, type RunResult, runMain } from './context.ts';

export type ShopOptions = Partial<ServiceOptions>;
export type ShopRunOptions = Partial<RunOptions>;

/** A store with its service, its folders and its clock, for one test. */
export interface Shop {
  readonly service: RunningService;
  readonly clock: TestClock;
  readonly folders: { readonly config: string; readonly state: string };
  /** `PETSTOCK_URL_STAGING` and `PETSTOCK_API_KEY_STAGING` of the service. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs `petstock` with the words of a command line, or with the arguments as they are. */
  run(command: string | readonly string[], options?: ShopRunOptions): Promise<RunResult>;
}

/** Opens a shop on a service in memory; it closes when the test is finished. */
export async function openShop(options: ShopOptions = {}): Promise<Shop> {
  const clock = createTestClock();
  const service = await startService({ file: ':memory:', testControls: true, clock, ...options });
  onTestFinished(() => service.close());
  const folders = await temporaryFolders();
  const env = { PETSTOCK_URL_STAGING: service.url, PETSTOCK_API_KEY_STAGING: service.key };
  return {
    service,
    clock,
    folders,
    env,
    run: (command, run = {}) =>
      runMain(typeof command === 'string' ? command.split(' ') : command, {
        clock,
        folders,
        ...run,
        env: { ...env, ...run.env },
      }),
  };
}

/** A test that is given a shop as `openShop()` opens it. */
export const test = plain.extend('shop', () => openShop());

/** A configuration and a state folder that don't exist yet; they are removed when the test is finished. */
export async function temporaryFolders(): Promise<{ config: string; state: string }> {
  const home = await mkdtemp(join(tmpdir(), 'petstock-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return { config: join(home, 'config'), state: join(home, 'state') };
}
