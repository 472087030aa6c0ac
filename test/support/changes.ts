import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunResult } from './context.ts';
import type { Shop, ShopRunOptions } from './shop.ts';

/** What `inventory apply` and `undo` print as JSON, of ids that JSON.parse can read. */
export interface PrintedReport {
  readonly run: string;
  readonly env: string;
  readonly dryRun: boolean;
  readonly counts: Readonly<Record<string, number>>;
  readonly rows: readonly PrintedRow[];
}

interface PrintedRow {
  readonly line: number;
  readonly petId: number;
  readonly before: number | null;
  readonly after: number | null;
  readonly result: string;
  readonly error?: { readonly code: string; readonly message: string; readonly status?: number };
}

export interface AppliedChanges extends RunResult {
  readonly report: PrintedReport;
}

/** Puts a file beside the folders of the shop. @returns its path */
export function changeFile(shop: Shop, text: string, name = 'changes.csv'): string {
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

export function withReport(result: RunResult): AppliedChanges {
  return { ...result, report: result.stdout === '' ? ({} as PrintedReport) : JSON.parse(result.stdout) };
}

/** The stock of each pet, ids as text. */
export async function stockOf(shop: Shop): Promise<ReadonlyMap<string, number>> {
  const { stdout } = await shop.run('inventory list -o tsv');
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
  return new Map(rows.map(([petId = '', quantity]) => [petId, Number(quantity)]));
}
