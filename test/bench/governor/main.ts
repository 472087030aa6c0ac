import { parseArgs } from 'node:util';
import { type Build, buildProject } from '../support/build.ts';
import { type Cost, measureCost } from './cost.ts';
import { installPeers, peers } from './peers.ts';
import { type Case, ours, report } from './report.ts';
import { measureRoundTrip } from './round-trip.ts';
import { Missing, runScenario, type Scenario, type Setting, windowMs } from './scenario.ts';
import { trace } from './trace.ts';

const foreignRate = 2;

/**
 * When a run begins within a window, in milliseconds. Not on a full second, which `Date` would tell exactly, and not in the
 * last second, where how fast a cold process sends its first requests decides whether that window is of any use.
 */
const phaseOf = (run: number) => (1370 + run * 1350) % (windowMs - 1000);

/** `npm run bench -- governor [--quick | --runs 3] [--only petstock,got] [--trace]`. The trace, on stderr, is of ours. */
export async function run(args: readonly string[]): Promise<void> {
  const flag = { type: 'boolean' } as const;
  const text = { type: 'string' } as const;
  const options = { quick: flag, runs: text, only: text, trace: flag };
  const { values } = parseArgs({ args: [...args], options });
  const only = values.only?.split(',') ?? [...peers, ours];
  const uninstalled = await installPeers();
  const build = await buildProject({ loop: 'test/bench/governor/loop.ts' });
  try {
    const cases = casesOf(only);
    for (const found of cases) {
      if (found.client !== ours && uninstalled !== undefined) found.absence = uninstalled;
    }
    const { costs, roundTrip } = await measure(cases, build, {
      runs: values.quick ? 1 : Number(values.runs ?? 3),
      ...(values.trace ? { onTrace: trace } : {}),
    });
    process.stdout.write(report(cases, costs, roundTrip));
  } finally {
    await build.remove();
  }
}

/** Those that run at the same time are next to each other. */
function casesOf(clients: readonly string[]): Case[] {
  const foreign = clients.includes(ours) ? [{ client: ours, foreign: foreignRate }] : [];
  return [...clients.map((client) => ({ client, foreign: 0 })), ...foreign].flatMap((found) =>
    [1, 4].map((processes) => ({ ...found, processes, outcomes: [] })),
  );
}

type MeasureOptions = Pick<Setting, 'onTrace'> & { readonly runs: number };

async function measure(cases: readonly Case[], build: Build, { runs, ...tracing }: MeasureOptions) {
  const { petIds, roundTrip } = await measureRoundTrip(build.program);
  const setting: Setting = { ...build, petIds, roundTrip, ...tracing };
  const costs: Cost[][] = [];
  for (let run = 0; run < runs; run += 1) {
    for (let index = 0; index < cases.length; index += 2) {
      const pair = cases.slice(index, index + 2);
      progress(`run ${run + 1} of ${runs}: ${pair[0]?.client}`);
      await Promise.all(pair.map((one) => runCase(one, phaseOf(run), setting)));
    }
    progress(`run ${run + 1} of ${runs}: cost`);
    costs.push(await measureCosts(build.entry('loop')));
  }
  progress('');
  return { costs, roundTrip };
}

/** In the order in which the report names them. */
async function measureCosts(loop: string): Promise<Cost[]> {
  return [await measureCost(loop, 1, 1), await measureCost(loop, 1, 10), await measureCost(loop, 4, 1)];
}

async function runCase(found: Case, phase: number, setting: Setting): Promise<void> {
  if (found.absence !== undefined) return;
  const { client, processes, foreign } = found;
  const scenario: Scenario = { client, processes, phase, foreign };
  try {
    found.outcomes.push(await runScenario(scenario, setting));
  } catch (error) {
    const { message } = error as Error;
    found.absence = error instanceof Missing ? `not installed: ${message}` : message;
  }
}

/** One line that is overwritten, for whoever watches. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
