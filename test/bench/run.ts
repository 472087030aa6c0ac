import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { cleanUp } from './support/children.ts';
import { goalTable, type Options, type Report, writeGoals } from './support/report.ts';

/**
 * `npm run bench -- [<name>] [--quick] [--write] [--runs n] [--pets n] [--seed n] [--nodes 22,24] [--only name,name]`:
 * runs the benchmark `<name>.ts` in this folder, or every one if there is no name. The name `all` stands for those that
 * fit into 25 minutes. `--write` writes the measured goals into `docs/performance.md`. `--quick` measures less.
 */
const names = readdirSync(fileURLToPath(new URL('.', import.meta.url)))
  .flatMap((file) => /^(?!run\.)([\w-]+)\.ts$/.exec(file)?.[1] ?? [])
  .sort();

/** The benchmarks of `all` and their numbers of rounds, which fit into 25 minutes. */
const all = Object.entries({ start: 21, history: 9, patch: 3, list: 5 });

const flag = { type: 'boolean', default: false } as const;
const text = { type: 'string' } as const;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: flag, write: flag, runs: text, pets: text, seed: text, nodes: text, only: text },
});
const [name = ''] = positionals;
const chosen =
  name === 'all' ? all : names.filter((each) => name === '' || each === name).map((each) => [each] as const);
if (chosen.length > 0) {
  process.stderr.write(`Before: ${load()}\n`);
  if ((loadavg()[0] ?? 0) > 0.5) process.stderr.write('Others use this machine: the figures will be noisy.\n');
  for (const [each, rounds] of chosen) await runOne(each, rounds);
} else {
  process.stderr.write(`Usage: npm run bench -- [all|<name>] [--quick] [--write]\nBenchmarks: ${names.join(', ')}\n`);
  process.exitCode = 2;
}

async function runOne(name: string, rounds: number | undefined): Promise<void> {
  const number = (value: string | undefined) => (value === undefined ? undefined : Number(value));
  const options: Options = {
    isQuick: values.quick,
    nodes: values.nodes,
    only: values.only?.split(','),
    pets: number(values.pets),
    seed: number(values.seed),
    rounds: number(values.runs) ?? (values.quick ? undefined : rounds),
  };
  const began = performance.now();
  try {
    const { run } = (await import(`./${name}.ts`)) as { run(options: Options): Promise<Report> };
    const { text, goals } = await run(options);
    process.stdout.write(`${await heading(name)}\n${text}\n${goals.length > 0 ? `${goalTable(goals)}\n` : ''}`);
    if (values.write) writeGoals(goals);
  } catch (error) {
    // A benchmark that can't run, for example without a tool, must not stop the others.
    process.stderr.write(`${name}: ${(error as Error).message}\n`);
    process.exitCode = 1;
  } finally {
    cleanUp();
  }
  process.stderr.write(`${name}: ${Math.round((performance.now() - began) / 1000)} s, ${load()}\n`);
}

/**
 * Returns, in Markdown, the command that makes the tables again, the date, the machine, and the versions of the tools.
 */
async function heading(name: string): Promise<string> {
  const command = ['npm run bench --', name, ...process.argv.slice(2).filter((option) => option !== name)].join(' ');
  const processors = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  const machine = `${processors.length} x ${processors[0]?.model.trim()}, ${memory}, ${type()} ${release()}`;
  const tools = [`Node ${process.versions.node}`, ...(await Promise.all(['curl', 'jq', 'python3'].map(versionOf)))];
  const date = new Date().toISOString().slice(0, 10);
  return `# ${name}\n\n\`${command}\` on ${date}; ${machine}, ${load()} at the end; ${tools.join(', ')}.\n`;
}

/** Returns the load average of the last minute: `load 0.4`. */
function load(): string {
  return `load ${(loadavg()[0] ?? 0).toFixed(1)}`;
}

async function versionOf(program: string): Promise<string> {
  const told = await promisify(execFile)(program, ['--version']).catch(() => undefined);
  return `${program} ${/\d+(\.\d+)+/.exec(told?.stdout ?? '')?.[0] ?? 'missing'}`;
}
