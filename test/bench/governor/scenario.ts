import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nextMessage, startWorker, stop } from '../support/children.ts';
import { type Served, serve } from './served.ts';
import { judge, optimum, type Verdict, type WireRequest } from './verdict.ts';

/** Some processes of one client write to a service of their own, with one key. */
export interface Scenario {
  readonly client: string;
  readonly processes: number;
  /** When it begins: milliseconds after the start of a window. */
  readonly phase: number;
  /** Requests per second of somebody else with the same key, who never minds an answer. */
  readonly foreign: number;
}

/** What all scenarios of a run share. */
export interface Setting {
  readonly program: string;
  readonly library: string;
  readonly petIds: readonly string[];
  /** Milliseconds, as measured without a limit. */
  readonly roundTrip: number;
  /** Told what was seen of each scenario. */
  onTrace?(scenario: Scenario, wire: readonly WireRequest[], begun: number, stateFolder: string): void;
}

export interface Outcome extends Verdict {
  /** Milliseconds, as `optimum`. */
  readonly makespan: number;
  readonly optimum: number;
  /** What is not as it should be: a write that failed, a stock that is wrong, a request that nobody saw leave. */
  readonly faults: readonly string[];
}

/** A peer that is not there. */
export class Missing extends Error {}

export const writes = 100;
export const limit = 20;
export const windowMs = 4000;
/** For each process. */
export const atOnce = 10;
const longest = 90_000;

const worker = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const monotonic = () => Number(process.hrtime.bigint()) / 1e6;

export async function runScenario(scenario: Scenario, setting: Setting): Promise<Outcome> {
  const { program, petIds } = setting;
  const stateFolder = mkdtempSync(join(tmpdir(), 'petstock-bench-'));
  const children: ChildProcess[] = [];
  const served = await serve({ program, limit, windowMs, pets: petIds.length });
  try {
    const { begun, reports } = await write(scenario, setting, served, stateFolder, children);
    const wire = reports
      .flatMap(({ wire }, process) => wire.map((request) => ({ ...request, process })))
      .sort((a, b) => a.sent - b.sent);
    setting.onTrace?.(scenario, wire, begun, stateFolder);
    await Promise.all(children.map(stop));
    const wall = Date.now() - monotonic();
    const verdict = judge(wire, setting.roundTrip, (moment) => Math.floor((moment + wall) / windowMs));
    const failures = reports.flatMap(({ failures }) => failures);
    return {
      ...verdict,
      makespan: Math.max(...reports.map(({ done }) => done)) - begun,
      optimum: optimumOf(scenario, setting),
      faults: [...failures, ...(await faultsIn(served, petIds, verdict))],
    };
  } finally {
    await Promise.all(children.map(stop));
    await served.stop();
    rmSync(stateFolder, { recursive: true, force: true, maxRetries: 3 });
  }
}

interface Report {
  readonly done: number;
  readonly failures: readonly string[];
  readonly wire: readonly Omit<WireRequest, 'process'>[];
}

async function write(
  { client, processes, phase, foreign }: Scenario,
  { library, petIds }: Setting,
  { url, key }: Served,
  stateFolder: string,
  children: ChildProcess[],
): Promise<{ begun: number; reports: readonly Report[] }> {
  const service = { url, key, library, stateFolder, limit, windowMs, atOnce };
  if (foreign > 0) {
    const other = startWorker(worker('foreign.js'));
    children.push(other);
    other.send({ service, every: 1000 / foreign });
    await nextMessage(other, 20_000);
  }
  const clients = Array.from({ length: processes }, () => startWorker(worker('client.js')));
  children.push(...clients);
  const ready = await Promise.all(
    clients.map((process, index) => {
      const own = wanted(petIds).filter((_, write) => write % processes === index);
      process.send({ client, service, writes: own, atOnce });
      return nextMessage<{ ready: boolean; missing: boolean; reason: string }>(process, 20_000);
    }),
  );
  for (const { ready: isReady, missing, reason } of ready) {
    if (!isReady) throw missing ? new Missing(reason) : new Error(`${client} does not start: ${reason}`);
  }
  // Of the windows, which begin at multiples of their length by the wall clock, the next one that can be waited for.
  const now = Date.now() + 200;
  const begun = Math.ceil((now - phase) / windowMs) * windowMs + phase - Date.now() + monotonic();
  for (const process of clients) process.send({ startAt: begun });
  const reports = await Promise.all(clients.map((process) => nextMessage<Report>(process, longest)));
  return { begun, reports };
}

function wanted(petIds: readonly string[]): { petId: string; quantity: number }[] {
  return petIds.map((petId, index) => ({ petId, quantity: 1000 + index }));
}

/** As if nobody else used the key: whoever is first in a window may have all of it. */
function optimumOf({ processes, phase }: Scenario, { roundTrip }: Setting): number {
  const times = { untilReset: windowMs - phase, windowMs, roundTrip };
  return optimum({ writes, left: limit, limit, atOnce: atOnce * processes, ...times });
}

/** Whether each write happened once, the stock is what it should be, and the service saw what we saw leave. */
async function faultsIn(served: Served, petIds: readonly string[], { requests, refusals }: Verdict): Promise<string[]> {
  const seen = (await served.journal()).filter(({ method }) => method === 'PATCH');
  const count = (status: number) => seen.filter((entry) => entry.status === status).length;
  const stock = await served.stock();
  const wrong = wanted(petIds).filter(({ petId, quantity }) => stock.get(petId) !== quantity);
  return [
    ...(wrong.length > 0 ? [`${wrong.length} quantities are wrong`] : []),
    ...(count(200) === writes ? [] : [`${count(200)} writes were done`]),
    ...(seen.length === requests ? [] : [`the service saw ${seen.length} requests, we ${requests}`]),
    ...(count(429) === refusals ? [] : [`the service refused ${count(429)}, we saw ${refusals}`]),
  ];
}
