import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test as plain } from 'vitest';
import { type RunningService, type ServiceOptions, startService } from '../../src/service/index.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { createTestClock, type TestClock } from './clock.ts';
import { type RunOptions, type RunResult, runMain } from './context.ts';
import { newFolder } from './new-folder.ts';
import { answering } from './servers.ts';

export type ShopOptions = Partial<ServiceOptions>;
export type ShopRunOptions = Partial<RunOptions>;

export interface ShopResult extends RunResult {
  /** The requests in short: `['GET /v1/inventory', 'PATCH /v1/inventory/7 {"quantity":3}']`. */
  readonly sent: readonly string[];
}

/** A store with its service, folders and clock, for one test. */
export interface Shop<Service = RunningService, Time extends Clock = TestClock> {
  readonly service: Service;
  readonly clock: Time;
  readonly folders: { readonly config: string; readonly state: string };
  /** `PETSTOCK_URL_STAGING` and `PETSTOCK_API_KEY_STAGING` for the service. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs `petstock` with a command line that is split at spaces, or with the arguments themselves. */
  run(command: string | readonly string[], options?: ShopRunOptions): Promise<ShopResult>;
  /** Runs a command, and returns the JSON that it has printed, whatever its exit code. */
  // biome-ignore lint/suspicious/noExplicitAny: each test says what is in it
  json(command: string | readonly string[], options?: ShopRunOptions): Promise<any>;
  /**
   * Runs a command.
   * @returns its stderr
   * @throws unless it exits with 2 and has neither printed to stdout nor sent a request
   */
  refused(command: string | readonly string[], options?: ShopRunOptions): Promise<string>;
  /**
   * Runs a command.
   * @throws unless it exits with this code, and its stderr matches each of `said`
   */
  exits(
    command: string | readonly string[],
    code: number,
    said?: string | RegExp | readonly (string | RegExp)[],
    options?: ShopRunOptions,
  ): Promise<ShopResult>;
}

/** Opens a shop whose service keeps its stock in memory. The service stops when the test is finished. */
export async function openShop(options: ShopOptions = {}): Promise<Shop> {
  const clock = createTestClock();
  const service = await startService({ file: ':memory:', recordsRequests: true, clock, ...options });
  onTestFinished(() => service.close());
  const folders = await temporaryFolders();
  return shopOf({
    service,
    clock,
    folders,
    env: { PETSTOCK_URL_STAGING: service.url, PETSTOCK_API_KEY_STAGING: service.key },
  });
}

/** Opens a shop whose service gives the same response to every request. */
export async function openShopAnswering(...response: Parameters<typeof answering>): Promise<Shop> {
  return withEnv(await openShop(), { PETSTOCK_URL_STAGING: await answering(...response) });
}

export type Variables = Readonly<Record<string, string | undefined>>;

/** Returns the same shop with further variables, and without those that are undefined. */
export function withEnv<Service>(shop: Shop<Service>, env: Variables): Shop<Service> {
  return shopOf({ ...shop, env: { ...shop.env, ...env } });
}

interface Parts<Service, Time extends Clock> extends Pick<Shop<Service, Time>, 'service' | 'clock' | 'folders'> {
  readonly env: Variables;
}

/** Returns the parts of a shop with the functions that run commands in it. */
export function shopOf<Service, Time extends Clock>(parts: Parts<Service, Time>): Shop<Service, Time> {
  const { clock, folders, env } = parts;
  const run: Shop['run'] = async (command, options = {}) => {
    const argv = typeof command === 'string' ? command.split(' ') : command;
    const result = await runMain(argv, { clock, folders, ...options, env: { ...env, ...options.env } });
    return { ...result, sent: sent(result) };
  };
  return {
    ...parts,
    env: env as Shop['env'],
    run,
    json: async (command, options) => JSON.parse((await run(command, options)).stdout),
    refused: async (command, options) => {
      const { code, stdout, stderr, requests } = await run(command, options);
      expect({ code, stdout, requests, stderr }).toEqual({ code: 2, stdout: '', requests: [], stderr });
      return stderr;
    },
    exits: async (command, code, said = [], options) => {
      const result = await run(command, options);
      const { stderr } = result;
      expect({ code: result.code, stderr }, `${command}`).toEqual({ code, stderr });
      for (const words of [said].flat()) expect(stderr, `${command}`).toMatch(words);
      return result;
    },
  };
}

/** A test that gets a shop as `openShop()` opens it. */
export const test = plain.extend('shop', () => openShop());

/**
 * Returns paths of a configuration and a state folder that don't exist yet. They are removed when the test is finished.
 */
export async function temporaryFolders(): Promise<{ config: string; state: string }> {
  const home = newFolder();
  return { config: join(home, 'config'), state: join(home, 'state') };
}

/** Returns the requests in short, as in `ShopResult`. */
export function sent({ requests }: RunResult): string[] {
  return requests.map(({ method, path, body }) => `${method} ${path}${body === undefined ? '' : ` ${body}`}`);
}

/** Returns `prompts` that give these answers in turn and repeat the last, and the questions that were `asked`. */
export function confirming(...answers: readonly boolean[]) {
  const asked: string[] = [];
  const confirm = async (question: string) => answers[Math.min(asked.push(question), answers.length) - 1] ?? false;
  return { asked, prompts: { confirm } };
}

export const noCounts = {
  applied: 0,
  unchanged: 0,
  failed: 0,
  conflict: 0,
  notAttempted: 0,
  unknown: 0,
  differs: 0,
  skipped: 0,
  notEdited: 0,
  planned: 0,
};

/** Returns the error of a command with `--json`: the object on the last line of stderr. */
export function errorJson(stderr: string) {
  return JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '');
}

/** Returns the values of NDJSON or of a log, one for each line. */
export function jsonLines(text: string) {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The JSON report of `inventory apply` and `undo`. Its ids are small enough for JSON.parse. */
export interface PrintedReport {
  readonly run: string;
  readonly env: string;
  readonly dryRun: boolean;
  readonly counts: Readonly<Record<string, number>>;
  readonly rows: readonly PrintedRow[];
}

/** A row of a report or of `history show`. */
export interface PrintedRow {
  readonly line: number;
  readonly petId: number;
  readonly before: number | null;
  readonly after: number | null;
  readonly result: string;
  readonly quantity?: number | null;
  readonly error?: { readonly code: string; readonly message: string; readonly status?: number };
}

export interface AppliedChanges extends ShopResult {
  readonly report: PrintedReport;
}

/** Writes a file beside the folders of the shop, and returns its path. */
export function changeFile(shop: Pick<Shop, 'folders'>, text: string, name = 'changes.csv'): string {
  const file = join(shop.folders.state, '..', name);
  writeFileSync(file, text);
  return file;
}

let files = 0;

/** Applies a change file with --yes, --json and further arguments. */
export async function apply(
  shop: Shop,
  text: string,
  args: readonly string[] = [],
  options?: ShopRunOptions,
): Promise<AppliedChanges> {
  files += 1;
  const file = changeFile(shop, text, `changes-${files}.csv`);
  return withReport(await shop.run(['inventory', 'apply', file, '--yes', '--json', ...args], options));
}

export function withReport(result: ShopResult): AppliedChanges {
  return { ...result, report: result.stdout === '' ? ({} as PrintedReport) : JSON.parse(result.stdout) };
}

/** Anything that runs commands: a shop, a machine, a program. */
interface Running {
  run(command: string): Promise<{ readonly stdout: string }>;
}

export async function stockOf({ run }: Running): Promise<ReadonlyMap<string, number>> {
  const { stdout } = await run('inventory list -o tsv');
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
  return new Map(rows.map(([petId = '', quantity]) => [petId, Number(quantity)]));
}

const pet = /(-?\d+)"?[^\d\n-]+(-?\d+)[^\d\n]*?\b(available|pending|sold)\b/g;

/** Returns the pets that an output in any format lists, as `4 39 available`, whatever further fields they have. */
export function petsIn(stdout: string): string[] {
  return Array.from(stdout.matchAll(pet), ([, ...values]) => values.join(' '));
}
