import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { writeGoals } from './support/document.ts';
import { load } from './support/machine.ts';
import type { Report } from './support/report.ts';
import { table } from './support/table.ts';

/**
 * `npm run bench -- [<name>] [options]`. Each benchmark is a folder beside this file, whose `main.ts` exports `run`; without a
 * name they run one after the other. `all` is those that `docs/performance.md` has tables of, in less than 25 minutes.
 * `--write` puts the goals of a benchmark there.
 */
const folder = fileURLToPath(new URL('.', import.meta.url));
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .flatMap((path) => /^([\w-]+)[\\/]main\.ts$/.exec(path)?.[1] ?? [])
  .sort();

/** What `all` does, with as many rounds as there is time for. */
const plan: readonly (readonly string[])[] = [
  ['start', '--runs', '21'],
  ['history', '--runs', '9'],
  ['patch', '--runs', '3'],
  ['list', '--runs', '5'],
];

const given = process.argv.slice(2);
const options = given.filter((argument, index) => index > 0 || argument.startsWith('-'));
const [name = ''] = given.length > options.length ? given : [];
const isAll = name === 'all';
const isUnderstood = name === '' || isAll ? options.every(isCommon) : names.includes(name);

if (isUnderstood) {
  const passed = options.filter((option) => option !== '--write');
  if (isAll) await runEach(plan.map(([each = '', ...rounds]) => [each, ...(passed.length > 0 ? passed : rounds)]));
  else await runEach((name === '' ? names : [name]).map((each) => [each, ...passed]));
} else {
  process.stderr.write(`Usage: npm run bench -- [all|<name>] [--quick] [--write]\nBenchmarks: ${names.join(', ')}\n`);
  process.exitCode = 2;
}

async function runEach(runs: readonly (readonly string[])[]): Promise<void> {
  process.stderr.write(`Before: ${load()}\n`);
  if (Number(load().replace(/\D+/, '')) > 0.5)
    process.stderr.write('Others use this machine: the figures will be noisy.\n');
  for (const [name = '', ...args] of runs) {
    if (runs.length > 1) process.stdout.write(`\n# ${name}\n\n`);
    const began = performance.now();
    // One that can't run, for want of a tool, is no reason to leave out the others.
    await runOne(name, args).catch((error) => {
      process.stderr.write(`${name}: ${(error as Error).message}\n`);
      process.exitCode = 1;
    });
    process.stderr.write(`${name}: ${Math.round((performance.now() - began) / 1000)} s, ${load()}\n`);
  }
}

/** An option that every benchmark takes. */
function isCommon(option: string): boolean {
  return option === '--quick' || option === '--write';
}

async function runOne(name: string, args: readonly string[]): Promise<void> {
  const { run } = (await import(`./${name}/main.ts`)) as { run(args: readonly string[]): Promise<unknown> };
  const report = await run(args);
  if (!isReport(report)) return;
  process.stdout.write(report.goals.length > 0 ? `${report.text}\n${goalTable(report)}` : report.text);
  if (options.includes('--write')) writeGoals(report.goals);
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
