import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Outcome, Scenario, Setting } from './governor/scenario.ts';
import { limit, measureRoundTrip, runScenario, windowMs, writes } from './governor/scenario.ts';
import { buildProject, installPackages } from './support/builds.ts';
import { goalOf, judged, type Options, type Report, table } from './support/report.ts';
import { median, progress } from './support/rounds.ts';

/** The name of our own client in `governor/client.js`, and the packages of the other clients. */
const ours = 'petstock';
const peers: Readonly<Record<string, string>> = {
  undici: 'undici@7.30.2',
  bottleneck: 'bottleneck@2.19.5',
  discord: '@discordjs/rest@2.6.3',
};

/**
 * Returns when a run begins, in milliseconds after the start of a window. This is neither a full second, which `Date`
 * would show exactly, nor within the last second of the window, which the processes could use only if they start fast
 * enough.
 */
const phaseOf = (run: number) => (1370 + run * 1350) % (windowMs - 1000);

/**
 * Measures writes under a rate limit, by one process and by four, beside other libraries (`--only petstock,undici`).
 */
export async function run({ isQuick, rounds = isQuick ? 1 : 3, only }: Options): Promise<Report> {
  const chosen = only ?? [...Object.keys(peers), ours];
  const clients = await installPackages(chosen.flatMap((client) => peers[client] ?? []));
  cpSync(fileURLToPath(new URL('governor', import.meta.url)), clients, { recursive: true });
  const build = await buildProject();
  const setting: Setting = { ...build, clients, ...(await measureRoundTrip(build.program)) };
  const cases = casesOf(chosen);
  for (let round = 0; round < rounds; round += 1) {
    for (let index = 0; index < cases.length; index += 2) {
      const pair = cases.slice(index, index + 2);
      progress(`run ${round + 1} of ${rounds}: ${pair[0]?.client}`);
      await Promise.all(pair.map((one) => runCase(one, phaseOf(round), setting)));
    }
  }
  progress('');
  const head = ['client', 'processes', 'makespan s', 'optimum s', 'ratio', '429s', 'inside', 'as wanted'];
  const about = `${writes} writes, limit ${limit} in ${windowMs / 1000} s, all with one key. Medians of ${rounds} runs; inside: requests sent inside a Retry-After.`;
  const text = `${about}\n\n${table([head, ...cases.map(lineOf)])}`;
  return { text, goals: chosen.includes(ours) ? goalsOf(cases) : [] };
}

interface Case extends Omit<Scenario, 'phase'> {
  readonly outcomes: Outcome[];
  /** Why a run failed, after which the case is not run again. */
  absence?: string;
}

/** Returns all cases. The two cases of a pair, with one process and with four, run at the same time. */
function casesOf(clients: readonly string[]): Case[] {
  const foreign = clients.includes(ours) ? [{ client: ours, foreign: 2 }] : [];
  const all = [...clients.map((client) => ({ client, foreign: 0 })), ...foreign];
  return all.flatMap((found) => [1, 4].map((processes) => ({ ...found, processes, outcomes: [] })));
}

async function runCase(found: Case, phase: number, setting: Setting): Promise<void> {
  if (found.absence !== undefined) return;
  await runScenario({ ...found, phase }, setting).then(
    (outcome) => found.outcomes.push(outcome),
    (error: Error) => Object.assign(found, { absence: error.message }),
  );
}

function lineOf({ client, processes, foreign, outcomes, absence }: Case): string[] {
  const start = [(peers[client] ?? client) + (foreign > 0 ? `, ${foreign}/s of others` : ''), String(processes)];
  if (outcomes.length === 0) return [...start, '-', '-', '-', '-', '-', absence ?? 'no run'];
  const middle = (of: (outcome: Outcome) => number) => median(outcomes.map(of));
  const faults = new Set([...outcomes.flatMap((outcome) => outcome.faults), absence ?? []].flat());
  const seconds = [middle(({ makespan }) => makespan) / 1000, middle(({ optimum }) => optimum) / 1000];
  const ratio = middle(({ makespan, optimum }) => makespan / optimum);
  const counts = [middle(({ refusals }) => refusals), middle(({ inside }) => inside)].map(String);
  const verdict = faults.size === 0 ? 'yes' : [...faults].join('; ').slice(0, 100);
  return [...start, ...[...seconds, ratio].map((time) => time.toFixed(2)), ...counts, verdict];
}

/** Judges the worst results of our own client. */
function goalsOf(cases: readonly Case[]): Report['goals'] {
  const own = cases.filter(({ client }) => client === ours);
  const [alone, foreign] = [own.filter((one) => one.foreign === 0), own.filter((one) => one.foreign > 0)];
  const worst = (of: readonly Case[], what: (outcome: Outcome) => number) =>
    Math.max(...of.flatMap(({ outcomes }) => (outcomes.length > 0 ? outcomes.map(what) : [Number.NaN])));
  const atMost = (most: number, name: string, of: readonly Case[], what: (outcome: Outcome) => number) => {
    const value = worst(of, what);
    return judged(value, `${value} ${name}`, value <= most);
  };
  const excess = alone.map((one) => {
    const seconds = worst([one], (outcome) => outcome.makespan - outcome.optimum) / 1000;
    return judged(seconds, `optimum + ${seconds.toFixed(2)} s with ${one.processes} processes`, seconds <= 1);
  });
  return [
    goalOf('rate limited, alone on the key', 'no 429 at all; optimum + 1 s', [
      atMost(0, '429s', alone, ({ refusals }) => refusals),
      ...excess,
      atMost(0, 'faults', alone, ({ faults }) => faults.length),
    ]),
    goalOf('rate limited, with 2 requests a second of others', 'one 429 a window; none sent inside a Retry-After', [
      atMost(1, 'a window', foreign, ({ episodes }) => episodes),
      atMost(0, 'inside', foreign, ({ insideAtAll }) => insideAtAll),
      atMost(0, 'faults', foreign, ({ faults }) => faults.length),
    ]),
  ];
}
