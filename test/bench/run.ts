import { readdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { writeToDocument } from './support/document.ts';
import type { Report } from './support/report.ts';
import { table } from './support/table.ts';

/**
 * `npm run bench -- [<name>] [options]`. Each benchmark is a folder beside this file, whose `main.ts` exports `run`; without a
 * name they run one after the other. `--write` puts what a benchmark reports into `docs/performance.md`.
 */
const folder = fileURLToPath(new URL('.', import.meta.url));
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .flatMap((path) => /^([\w-]+)[\\/]main\.ts$/.exec(path)?.[1] ?? [])
  .sort();

const given = process.argv.slice(2);
const options = given.filter((argument, index) => index > 0 || argument.startsWith('-'));
const wanted = given.length > options.length ? given.slice(0, 1) : names;
const isUnderstood =
  wanted.every((name) => names.includes(name)) && (wanted.length === 1 || options.every((option) => isCommon(option)));

if (isUnderstood) {
  const [load = 0] = loadavg();
  if (load > 0.5)
    process.stderr.write(`Others use this machine (load ${load.toFixed(1)}): the figures will be noisy.\n`);
  for (const name of wanted) {
    // One that can't run, for want of a tool, is no reason to leave out the others.
    await runOne(name).catch((error) => {
      process.stderr.write(`${name}: ${(error as Error).message}\n`);
      process.exitCode = 1;
    });
  }
} else {
  process.stderr.write(`Usage: npm run bench -- [<name>] [--quick] [--write]\nBenchmarks: ${names.join(', ')}\n`);
  process.exitCode = 2;
}

/** An option that every benchmark takes. */
function isCommon(option: string): boolean {
  return option === '--quick' || option === '--write';
}

async function runOne(name: string): Promise<void> {
  if (wanted.length > 1) process.stdout.write(`\n# ${name}\n\n`);
  const { run } = (await import(`./${name}/main.ts`)) as { run(args: readonly string[]): Promise<unknown> };
  const report = await run(options.filter((option) => option !== '--write'));
  if (!isReport(report)) return;
  process.stdout.write(report.goals.length > 0 ? `${report.text}\n${goalTable(report)}` : report.text);
  if (options.includes('--write')) writeToDocument(name, report);
}

/** Those that write their table themselves return nothing. */
function isReport(value: unknown): value is Report {
  return typeof value === 'object' && value !== null && 'goals' in value;
}

function goalTable({ goals }: Report): string {
  const word = (isReached: boolean | undefined) => (isReached === undefined ? '-' : isReached ? 'reached' : 'MISSED');
  const rows = goals.map(({ what, goal, reached, isReached }) => [what, goal, reached, word(isReached)]);
  return table([['what', 'goal', 'measured', ''], ...rows]);
}
