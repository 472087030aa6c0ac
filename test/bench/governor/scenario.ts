import { join } from 'node:path';
import { nextMessage, startWorker, stop, temporaryFolder } from '../support/children.ts';
import { load } from '../support/load.ts';
import { type Served, serve } from '../support/served.ts';

/** Several processes of one client write to a service of their own, with one key. */
export interface Scenario {
  readonly client: string;
  readonly processes: number;
  /** When the processes begin, in milliseconds after the start of a window. */
  readonly phase: number;
  /** How many requests per second another user sends with the same key, without regard to the responses. */
  readonly foreign: number;
}

/** The properties that all scenarios of a benchmark share. */
export interface Setting {
  readonly program: string;
  readonly library: string;
  /** The folder of `client.js`, with the other clients' packages. */
  readonly clients: string;
  readonly petIds: readonly string[];
  /** How long one write takes without a limit, in milliseconds. */
  readonly roundTrip: number;
}

export type Outcome = Awaited<ReturnType<typeof runScenario>>;

export const writes = 100;
export const limit = 20;
export const windowMs = 4000;
/** How many writes each process has in flight at a time. */
export const atOnce = 10;

const monotonic = () => Number(process.hrtime.bigint()) / 1e6;

/** Returns the ids of the pets, and how long one of `atOnce` writes takes without a limit, in milliseconds. */
export async function measureRoundTrip(program: string) {
  const served = await serve({ program, pets: writes });
  const petIds = [...(await served.stock()).keys()];
  const options = { seconds: 1, connections: atOnce };
  const requests = await load([served], `PATCH /inventory/${petIds[0]}`, options);
  await served.stop();
  return { petIds, roundTrip: (options.seconds * 1000 * atOnce) / requests };
}

/**
 * Runs a scenario. Returns the verdict on its requests, the makespan and the optimum in milliseconds, and the `faults`:
 * failed writes, wrong quantities, and requests that only the client or only the service saw.
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
  // Windows begin at multiples of their length by the wall clock. This is the phase in the next window that is at least
  // 200 ms away.
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
 * Returns the shortest time in which all writes can be done within the limit, in milliseconds, as if nobody else used
 * the key: the process that comes first in a window may use all of it.
 */
function optimumOf({ processes, phase }: Scenario, { roundTrip }: Setting): number {
  const windows = Math.ceil((writes - limit) / limit);
  const last = writes - windows * limit;
  return windowMs - phase + (windows - 1) * windowMs + Math.ceil(last / (atOnce * processes)) * roundTrip;
}

/**
 * Returns what is wrong, in words: a write was not done exactly once, a quantity is wrong, or the service received
 * other requests than the clients sent.
 */
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

/** A request as `client.js` saw it. Times are in milliseconds of the monotonic clock. */
interface WireRequest {
  /** The index of the process that sent it. */
  readonly process: number;
  readonly sent: number;
  readonly head?: number;
  readonly status?: number;
  /** The response's Retry-After in seconds. */
  readonly retryAfter?: number;
}

type Verdict = ReturnType<typeof judge>;

/**
 * The 429s of one burst end at slightly different times. A client that obeys each request's own Retry-After may send
 * this many milliseconds before the last one ends.
 */
const spread = 50;

/**
 * @param roundTrip how long a process has, in milliseconds, to learn of a 429 that another process received
 * @param windowOf returns the number of the window that contains a moment
 */
function judge(wire: readonly WireRequest[], roundTrip: number, windowOf: (moment: number) => number) {
  const refusals = wire.filter(({ status }) => status === 429);
  /** Returns when the sender of a request knew of a 429. */
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
    /** The number of requests sent after a 429 had come, and more than `spread` ms before its Retry-After ended. */
    inside: insideBut(spread),
    insideAtAll: insideBut(0),
    /** The most episodes in one window. */
    episodes: Math.max(0, ...episodes.values()),
  };
}
