import { join } from 'node:path';
import { nextMessage, startWorker, stop, temporaryFolder } from '../support/children.ts';
import { load } from '../support/load.ts';
import { type Served, serve } from '../support/served.ts';

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
  /** The folder of `client.js`, with the peers. */
  readonly clients: string;
  readonly petIds: readonly string[];
  /** Milliseconds, as measured without a limit. */
  readonly roundTrip: number;
}

export type Outcome = Awaited<ReturnType<typeof runScenario>>;

export const writes = 100;
export const limit = 20;
export const windowMs = 4000;
/** For each process. */
export const atOnce = 10;

const monotonic = () => Number(process.hrtime.bigint()) / 1e6;

/** Returns the ids of the stock, and the milliseconds of one write without a limit, so many at a time. */
export async function measureRoundTrip(program: string) {
  const served = await serve({ program, pets: writes });
  const petIds = [...(await served.stock()).keys()];
  const options = { seconds: 1, connections: atOnce };
  const requests = await load([served], `PATCH /inventory/${petIds[0]}`, options);
  await served.stop();
  return { petIds, roundTrip: (options.seconds * 1000 * atOnce) / requests };
}

/**
 * Returns the verdict on what was sent, makespan and optimum in milliseconds, and as `faults` what is not as it should be: a write
 * that failed, a stock that is wrong, a request that nobody saw leave.
 */
export async function runScenario(scenario: Scenario, setting: Setting) {
  const { program, petIds } = setting;
  const served = await serve({ program, limit, windowMs, pets: petIds.length });
  const { begun, reports } = await write(scenario, setting, served);
  const wire = reports.flatMap(({ wire }, process) => wire.map((request) => ({ ...request, process })));
  const wall = Date.now() - monotonic();
  const verdict = judge(wire, setting.roundTrip, (moment) => Math.floor((moment + wall) / windowMs));
  const faults = [...reports.flatMap(({ failures }) => failures), ...(await faultsIn(served, petIds, verdict))];
  await served.stop();
  const makespan = Math.max(...reports.map(({ done }) => done)) - begun;
  return { ...verdict, makespan, optimum: optimumOf(scenario, setting), faults };
}

interface Report {
  readonly done: number;
  readonly failures: readonly string[];
  readonly wire: readonly Omit<WireRequest, 'process'>[];
}

async function write(scenario: Scenario, { library, clients, petIds }: Setting, { url, key }: Served) {
  const { client, processes, phase, foreign } = scenario;
  const service = { url, key, library, stateFolder: temporaryFolder(), limit, windowMs, atOnce };
  const count = processes + (foreign > 0 ? 1 : 0);
  const workers = Array.from({ length: count }, () => startWorker(join(clients, 'client.js')));
  await Promise.all(
    workers.map((worker, index) => {
      const own = wanted(petIds).filter((_, write) => write % processes === index);
      const isForeign = index === processes;
      worker.send(isForeign ? { service, every: 1000 / foreign } : { client, service, writes: own, atOnce });
      return nextMessage(worker, 20_000);
    }),
  );
  // Of the windows, which begin at multiples of their length by the wall clock, the next one that can be waited for.
  const now = Date.now() + 200;
  const begun = Math.ceil((now - phase) / windowMs) * windowMs + phase - Date.now() + monotonic();
  const writers = workers.slice(0, processes);
  for (const worker of writers) worker.send({ startAt: begun });
  const reports = await Promise.all(writers.map((worker) => nextMessage<Report>(worker, 90_000)));
  await Promise.all(workers.map(stop));
  return { begun, reports };
}

function wanted(petIds: readonly string[]): { petId: string; quantity: number }[] {
  return petIds.map((petId, index) => ({ petId, quantity: 1000 + index }));
}

/**
 * Returns the shortest time in which all writes can be done within the limit, in milliseconds: T* of the design. As if nobody else
 * used the key: whoever is first in a window may have all of it.
 */
function optimumOf({ processes, phase }: Scenario, { roundTrip }: Setting): number {
  const windows = Math.ceil((writes - limit) / limit);
  const last = writes - windows * limit;
  return windowMs - phase + (windows - 1) * windowMs + Math.ceil(last / (atOnce * processes)) * roundTrip;
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

/** A request as `client.js` saw it leave and its answer's head come. Milliseconds of the monotonic clock. */
interface WireRequest {
  /** Which process sent it. */
  readonly process: number;
  readonly sent: number;
  readonly head?: number;
  readonly status?: number;
  /** Seconds. */
  readonly retryAfter?: number;
}

type Verdict = ReturnType<typeof judge>;

/**
 * The 429s of one burst end one after the other, and a client that keeps each request's own is not blamed for that:
 * milliseconds.
 */
const spread = 50;

/**
 * @param roundTrip what another process than the one that met the 429 is allowed, in milliseconds, to learn of it
 * @param windowOf the number of the window that a moment falls into
 */
function judge(wire: readonly WireRequest[], roundTrip: number, windowOf: (moment: number) => number) {
  const refusals = wire.filter(({ status }) => status === 429);
  /** When the sender of a request knew of a 429. */
  const knownAt = (refusal: WireRequest, sender: WireRequest) =>
    (refusal.head ?? 0) + (refusal.process === sender.process ? 0 : roundTrip);
  const endOf = ({ head = 0, retryAfter = 0 }: WireRequest) => head + retryAfter * 1000;
  const isInside = (request: WireRequest, allowed: number) =>
    refusals.some((refusal) => request.sent > knownAt(refusal, request) && request.sent < endOf(refusal) - allowed);
  const insideBut = (allowed: number) => wire.filter((request) => isInside(request, allowed)).length;
  const episodes = new Map<number, number>();
  let begun = 0;
  // A 429 begins another episode if its request was sent after an earlier 429 had come.
  for (const refusal of [...refusals].sort((a, b) => a.sent - b.sent)) {
    if (begun > 0 && refusal.sent <= begun) begun = Math.min(begun, refusal.head ?? begun);
    else {
      begun = refusal.head ?? refusal.sent;
      const window = windowOf(refusal.sent);
      episodes.set(window, (episodes.get(window) ?? 0) + 1);
    }
  }
  return {
    requests: wire.length,
    refusals: refusals.length,
    /** Requests sent after a 429 had been received, and more than `spread` before its Retry-After was over. */
    inside: insideBut(spread),
    insideAtAll: insideBut(0),
    /** The most in one window. */
    episodes: Math.max(0, ...episodes.values()),
  };
}
