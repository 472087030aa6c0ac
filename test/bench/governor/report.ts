import { median, table } from '../support/table.ts';
import type { Cost } from './cost.ts';
import { nameOf } from './peers.ts';
import { atOnce, limit, type Outcome, windowMs, writes } from './scenario.ts';

/** The name of our own client among those of `clients/`. */
export const ours = 'petstock';

/** What is measured of each run, in this order. */
const costNames = ['one request at a time', '10 at a time', '4 processes, one state'];

/** What to reach. */
const goals = { excess: 1000, episodes: 1, cost: 60 };

/** One line of the table. */
export interface Case {
  readonly client: string;
  readonly processes: number;
  readonly foreign: number;
  readonly outcomes: Outcome[];
  /** Why there are no outcomes. */
  absence?: string;
}

/** Medians for all, and for ours the worst, beside what to reach. */
export function report(cases: readonly Case[], costs: readonly Cost[][], roundTrip: number): string {
  const head = ['client', 'processes', 'makespan s', 'optimum s', 'ratio', '429s', 'inside', 'as wanted'];
  const heading =
    `${writes} writes, limit ${limit} in ${windowMs / 1000} s, ${atOnce} at a time in each process, which all use one key. ` +
    `Round trip ${roundTrip.toFixed(1)} ms.\nMedians of ${costs.length} runs. 429s and requests sent inside a Retry-After are counts.\n\n`;
  const parts = [heading, table([head, ...cases.map(lineOf)]), '\n', reached(cases), costLines(costs)];
  return parts.join('');
}

function lineOf({ client, processes, foreign, outcomes, absence }: Case): string[] {
  const name = foreign > 0 ? `${nameOf(client)}, ${foreign}/s of others` : nameOf(client);
  const start = [name, String(processes)];
  if (outcomes.length === 0) return [...start, '-', '-', '-', '-', '-', absence ?? 'no run'];
  const middle = (of: (outcome: Outcome) => number) => median(outcomes.map(of));
  const seconds = (ms: number) => (ms / 1000).toFixed(2);
  const faults = [...new Set(outcomes.flatMap((outcome) => outcome.faults))];
  return [
    ...start,
    seconds(middle(({ makespan }) => makespan)),
    seconds(middle((outcome) => outcome.optimum)),
    middle((outcome) => outcome.makespan / outcome.optimum).toFixed(2),
    String(middle(({ refusals }) => refusals)),
    String(middle(({ inside }) => inside)),
    faults.length === 0 && absence === undefined ? 'yes' : [...faults, absence ?? ''].join('; ').slice(0, 100),
  ];
}

/** What ours reached, at its worst. */
function reached(cases: readonly Case[]): string {
  return cases
    .filter(({ client }) => client === ours)
    .map(({ processes, foreign, outcomes, absence }) => {
      const worst = (of: (outcome: Outcome) => number) => Math.max(...outcomes.map(of));
      const excess = worst((outcome) => outcome.makespan - outcome.optimum);
      const refusals = worst((outcome) => outcome.refusals);
      const inside = worst((outcome) => outcome.insideAtAll);
      const episodes = worst((outcome) => outcome.episodes);
      const faulty = absence !== undefined || outcomes.some(({ faults }) => faults.length > 0);
      const name = `${ours}, ${processes} ${processes === 1 ? 'process' : 'processes'}`;
      const facts = `at worst ${refusals} 429s, ${inside} inside, optimum ${signed(excess / 1000)} s`;
      if (foreign === 0) {
        const isReached = refusals + inside === 0 && excess <= goals.excess;
        return `${name}: ${facts} (goal 0, 0, +1 s): ${word(isReached && !faulty)}\n`;
      }
      const isReached = episodes <= goals.episodes && inside === 0;
      const also = `${episodes} episodes in a window (goal ${goals.episodes}, 0 inside)`;
      return `${name}, ${foreign}/s of others: ${facts}, ${also}: ${word(isReached && !faulty)}\n`;
    })
    .join('');
}

function costLines(costs: readonly Cost[][]): string {
  const lines = costNames.map((name, index) => {
    const cost = (of: (cost: Cost) => number) => median(costs.map((run) => of(run[index] ?? { user: 0, system: 0 })));
    const all = cost(({ user, system }) => user + system);
    const parts = `user ${cost(({ user }) => user).toFixed(1)}, system ${cost(({ system }) => system).toFixed(1)}`;
    const goal = index === 0 ? ` (goal ${goals.cost}): ${word(all <= goals.cost)}` : '';
    return `CPU of the governor per request, ${name}: ${all.toFixed(1)} us, ${parts}${goal}\n`;
  });
  return lines.join('');
}

const signed = (value: number) => `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(2)}`;
const word = (isReached: boolean) => (isReached ? 'reached' : 'MISSED');
