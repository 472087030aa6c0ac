import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { version } from '../shared/version.ts';
import { type Clock, shared, within } from './clock.ts';
import type { Exchange } from './http/exchange.ts';
import { type Admission, DAY_MS, windowAt } from './limits/admission.ts';
import type { ServiceStorage } from './storage/storage.ts';

export type Metrics = ReturnType<typeof createMetrics>;

const METHODS = new Set(['GET', 'HEAD', 'PATCH', 'OPTIONS', 'POST', 'PUT', 'DELETE']);
const REFUSALS = new Set(['rate_limited', 'key_banned', 'address_rate_limited']);

/** The operation on the stock that a successful request carries out, by method and route. */
const OPERATIONS: Readonly<Record<string, string>> = {
  'GET /inventory': 'list',
  'PATCH /inventory/{petId}': 'set',
  'GET /pets/{petId}': 'find',
};

/** Maximum number of keys whose usage is exported, oldest first. */
const KEYS_SHOWN = 200;

interface Watched {
  readonly storage: ServiceStorage;
  isUsable(): Promise<boolean>;
  /** Measures durations. */
  readonly clock: Clock;
  readonly minuteMs: number;
}

/** Metrics whose names end in `_total` although they are not counters. */
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];

/** Creates the metrics for Prometheus. Their labels have few values, whatever clients send. */
export function createMetrics(watched: Watched) {
  const { clock } = watched;
  const register = new Registry();
  const counters = countersIn(register);
  addGauges(register, watched);
  // Metrics of the process. They cost a little, so collecting starts with the first request for metrics.
  let addDefaults = () => {
    collectDefaultMetrics({ register });
    for (const name of MISNAMED) register.removeSingleMetric(name);
    addDefaults = () => {};
  };
  return {
    contentType: register.contentType,
    /** Call this after deciding whether to admit a request with a valid key. */
    admitted: (admission: Admission) => {
      if (admission.outcome === 'banned' && admission.begins) counters.bans.inc();
    },
    /** Call this after refusing a request for which there is no exchange. */
    refused: (status: number) => counters.requests.inc({ method: 'other', route: 'other', status }),
    timed: async <Result>(operation: string, work: () => Promise<Result>): Promise<Result> => {
      const began = clock.now();
      try {
        return await work();
      } finally {
        counters.storeDuration.observe({ operation }, Math.max(0, clock.now() - began) / 1000);
      }
    },
    /** Call this after a response, or when its connection has ended. */
    over: ({ method, route, code, entry: { status } }: Exchange, seconds: number) => {
      const labels = { method: METHODS.has(method) ? method : 'other', route: route?.path ?? 'other' };
      counters.requests.inc({ ...labels, status: status ?? 'none' });
      counters.duration.observe(labels, seconds);
      if (code !== null && REFUSALS.has(code)) counters.refusals.inc({ code });
      const operation = OPERATIONS[`${labels.method} ${labels.route}`];
      if (operation !== undefined && status === 200) counters.operations.inc({ operation });
    },
    /** Call this after the administration has changed the stock: `put`, `remove`, `reset`. */
    stockChanged: (operation: string) => counters.operations.inc({ operation }),
    /** Returns Prometheus' text format. */
    text: (): Promise<string> => {
      addDefaults();
      return register.metrics();
    },
  };
}

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

function countersIn(register: Registry) {
  const described = <Label extends string>(name: string, help: string, ...labelNames: Label[]) => ({
    name: `petstock_${name}`,
    help,
    labelNames,
    registers: [register],
  });
  const requests =
    'Requests. status is none if no response was sent. method and route are other if unknown or not parsed.';
  const duration = 'Time from the headers of a request to the end of its response.';
  const store = 'Time that the storage took to admit requests, and to find and set single pets.';
  return {
    requests: new Counter(described('http_requests_total', requests, 'method', 'route', 'status')),
    duration: new Histogram({
      ...described('http_request_duration_seconds', duration, 'method', 'route'),
      buckets: BUCKETS,
    }),
    storeDuration: new Histogram({ ...described('store_duration_seconds', store, 'operation'), buckets: BUCKETS }),
    refusals: new Counter(described('refusals_total', 'Requests that were refused with 429, by code.', 'code')),
    bans: new Counter(described('bans_total', 'Bans of keys that kept sending requests after a 429.')),
    operations: new Counter(described('stock_operations_total', 'Successful operations on the stock.', 'operation')),
  };
}

/**
 * Adds the gauges of one snapshot of the storage. prom-client collects each gauge separately, but all at the same time,
 * so they share the snapshot.
 */
function addGauges(register: Registry, watched: Watched): void {
  const collect = shared(() => measure());
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name: `petstock_${name}`, help, labelNames, registers: [register], collect });
  gauge('build_info', 'Always 1, labelled with the version of petstock.', 'version').set({ version }, 1);
  const up = gauge(
    'store_up',
    '1 if a test change succeeded in the last few seconds and no change has failed since, or if one succeeds now.',
  );
  const connections = gauge('store_connections', 'Connections to the database.', 'state');
  const waiting = gauge('store_waiting_requests', 'Requests that are waiting for a connection to the database.');
  const limits = gauge('key_limit', 'Requests that a key may make in a window.', 'key', 'name', 'window');
  const used = gauge('key_used', 'Requests that were charged to a key in the current window.', 'key', 'name', 'window');
  const banned = gauge('key_banned', '1 while a key is banned.', 'key', 'name');
  const measure = async () => {
    const { storage, minuteMs } = watched;
    const none = storage.keys().catch(() => null);
    const [isUp, records] = await Promise.all([watched.isUsable(), within(none, null)]);
    const now = storage.now();
    for (const one of [limits, used, banned]) one.reset();
    up.set(isUp ? 1 : 0);
    const { total, idle, waiting: asking } = storage.pool ?? { total: 0, idle: 0, waiting: 0 };
    connections.set({ state: 'idle' }, idle);
    connections.set({ state: 'busy' }, total - idle);
    waiting.set(asking);
    const valid = (records ?? []).filter(({ revokedAt }) => revokedAt === null);
    for (const { id: key, name: known, limits: most, usage } of valid.slice(0, KEYS_SHOWN)) {
      const name = known ?? '';
      for (const window of ['minute', 'day'] as const) {
        const length = window === 'minute' ? minuteMs : DAY_MS;
        used.set({ key, name, window }, Number(windowAt(usage[window], now, length).used));
        limits.set({ key, name, window }, Number(most[window]));
      }
      banned.set({ key, name }, (usage.conduct.bannedUntil ?? 0) > now ? 1 : 0);
    }
  };
}
