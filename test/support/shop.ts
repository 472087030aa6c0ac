import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test as plain } from 'vitest';
import { type RunningService, type ServiceOptions, startService } from '../../src/service/index.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { answering } from './answering.ts';
import { createTestClock, type TestClock } from './clock.ts';
import { type RunOptions, type RunResult, runMain } from './context.ts';
import { newFolder } from './new-folder.ts';

export type ShopOptions = Partial<ServiceOptions>;
export type ShopRunOptions = Partial<RunOptions>;

export interface ShopResult extends RunResult {
  /** The requests in short: `['GET /v1/inventory', 'PATCH /v1/inventory/7 {"quantity":3}']`. */
  readonly sent: readonly string[];
}

/** A store with its service, its folders and its clock, for one test. */
export interface Shop<Service = RunningService, Time extends Clock = TestClock> {
  readonly service: Service;
  readonly clock: Time;
  readonly folders: { readonly config: string; readonly state: string };
  /** `PETSTOCK_URL_STAGING` and `PETSTOCK_API_KEY_STAGING` of the service. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs `petstock` with the words of a command line, or with the arguments as they are. */
  run(command: string | readonly string[], options?: ShopRunOptions): Promise<ShopResult>;
  /** Runs it, whatever its exit code. @returns what it has printed as JSON */
  // biome-ignore lint/suspicious/noExplicitAny: each test says what is in it
  json(command: string | readonly string[], options?: ShopRunOptions): Promise<any>;
  /** Runs it. @returns its stderr @throws unless it is exit 2, has printed nothing, and has sent nothing */
  refused(command: string | readonly string[], options?: ShopRunOptions): Promise<string>;
  /** Runs it. @throws unless it ends with this exit code, and its stderr has each of these */
  exits(
    command: string | readonly string[],
    code: number,
    said?: string | RegExp | readonly (string | RegExp)[],
    options?: ShopRunOptions,
  ): Promise<ShopResult>;
}

/** Opens a shop on a service in memory; it closes when the test is finished. */
export async function openShop(options: ShopOptions = {}): Promise<Shop> {
  const clock = createTestClock();
  const service = await startService({ file: ':memory:', testControls: true, clock, ...options });
  onTestFinished(() => service.close());
  const folders = await temporaryFolders();
  return shopOf({
    service,
    clock,
    folders,
    env: { PETSTOCK_URL_STAGING: service.url, PETSTOCK_API_KEY_STAGING: service.key },
  });
}

/** Opens a shop at a service that answers every request with these. */
export async function openShopAnswering(...response: Parameters<typeof answering>): Promise<Shop> {
  return withEnv(await openShop(), { PETSTOCK_URL_STAGING: await answering(...response) });
}

export type Variables = Readonly<Record<string, string | undefined>>;

/** Returns the same shop with more variables, or without those that are undefined. */
export function withEnv<Service>(shop: Shop<Service>, env: Variables): Shop<Service> {
  return shopOf({ ...shop, env: { ...shop.env, ...env } });
}

interface Parts<Service, Time extends Clock> extends Pick<Shop<Service, Time>, 'service' | 'clock' | 'folders'> {
  readonly env: Variables;
}

/** Returns how commands are run there, beside what it is given. */
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

/** A test that is given a shop as `openShop()` opens it. */
export const test = plain.extend('shop', () => openShop());

/** A configuration and a state folder that don't exist yet; they are removed when the test is finished. */
export async function temporaryFolders(): Promise<{ config: string; state: string }> {
  const home = newFolder();
  return { config: join(home, 'config'), state: join(home, 'state') };
}

/** The requests in short, as in `ShopResult`. */
export function sent({ requests }: RunResult): string[] {
  return requests.map(({ method, path, body }) => `${method} ${path}${body === undefined ? '' : ` ${body}`}`);
}

/** Confirms or not, in turn, and the rest as the last. @returns `prompts`, and what they were `asked` */
export function confirming(...answers: readonly boolean[]) {
  const asked: string[] = [];
  const confirm = async (question: string) => answers[Math.min(asked.push(question), answers.length) - 1] ?? false;
  return { asked, prompts: { confirm } };
}

/** The counts of a report in which there is nothing. */
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

/** The error that a command with `--json` ends with: one object on the last line of stderr. */
export function errorJson(stderr: string) {
  return JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '');
}

/** The values of NDJSON or of a log. */
export function jsonLines(text: string) {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The JSON report of `inventory apply` and `undo`, with ids that JSON.parse can read. */
export interface PrintedReport {
  readonly run: string;
  readonly env: string;
  readonly dryRun: boolean;
  readonly counts: Readonly<Record<string, number>>;
  readonly rows: readonly PrintedRow[];
}

/** The rows of a report or of `history show`. */
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

/** Puts a file beside the folders of the shop. @returns its path */
export function changeFile(shop: Pick<Shop, 'folders'>, text: string, name = 'changes.csv'): string {
  const file = join(shop.folders.state, '..', name);
  writeFileSync(file, text);
  return file;
}

let files = 0;

/** Applies a file with --yes and --json, and further arguments. */
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

/** Whatever runs a command: a shop, a machine, a program. */
interface Running {
  run(command: string): Promise<{ readonly stdout: string }>;
}

/** The stock of each pet, ids as text. */
export async function stockOf({ run }: Running): Promise<ReadonlyMap<string, number>> {
  const { stdout } = await run('inventory list -o tsv');
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
  return new Map(rows.map(([petId = '', quantity]) => [petId, Number(quantity)]));
}
