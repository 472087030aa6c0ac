import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { within } from './bounded.ts';
import type { Exchange } from './http/exchange.ts';
import type { Admission } from './limits/admission.ts';
import { DAY_MS, windowAt } from './limits/window.ts';
import type { Store } from './store/store.ts';

/** What is counted while requests are answered. */
export interface Metrics {
  /** After the admission of a request with a valid key. */
  admitted(admission: Admission): void;
  /** After an answer, or the end of its connection. */
  over(exchange: Exchange, seconds: number): void;
  /** After a change of the stock by administration: `put`, `remove`, `reset`. */
  stockChanged(operation: string): void;
  /** Prometheus' text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

const METHODS = new Set(['GET', 'HEAD', 'PATCH', 'OPTIONS', 'POST', 'PUT', 'DELETE']);
const REFUSALS = new Set(['rate_limited', 'key_banned', 'address_rate_limited']);

/** What of the stock a request that went well has done, by method and route. */
const OPERATIONS: Readonly<Record<string, string>> = {
  'GET /inventory': 'list',
  'PATCH /inventory/{petId}': 'set',
  'GET /pets/{petId}': 'find',
};

/** Keys whose use is shown: those that were made first. */
const KEYS_SHOWN = 200;

/** Counts for Prometheus. Labels have few values, whatever clients send. @param minuteMs length of the minute window */
export function createMetrics(store: Store, minuteMs: number): Metrics {
  const register = new Registry();
  const counters = countersIn(register);
  addKeyGauges(register, store, minuteMs);
  let hasDefaults = false;
  return {
    contentType: register.contentType,
    admitted: (admission) => {
      if (admission.outcome === 'banned' && admission.begins) counters.bans.inc();
    },
    over: ({ method, route, code, entry: { status } }, seconds) => {
      const labels = { method: METHODS.has(method) ? method : 'other', route: route ?? 'other' };
      counters.requests.inc({ ...labels, status: status ?? 'none' });
      counters.duration.observe(labels, seconds);
      if (code !== null && REFUSALS.has(code)) counters.refusals.inc({ code });
      const operation = OPERATIONS[`${method} ${route}`];
      if (operation !== undefined && status === 200) counters.operations.inc({ operation });
    },
    stockChanged: (operation) => counters.operations.inc({ operation }),
    text: () => {
      // They watch the process, which costs a little: from the first look on.
      if (!hasDefaults) collectDefaultMetrics({ register });
      hasDefaults = true;
      return register.metrics();
    },
  };
}

function countersIn(register: Registry) {
  const registers = [register];
  return {
    requests: new Counter({
      name: 'petstock_http_requests_total',
      help: 'Requests by method, route and status; status "none" where no answer was sent.',
      labelNames: ['method', 'route', 'status'],
      registers,
    }),
    duration: new Histogram({
      name: 'petstock_http_request_duration_seconds',
      help: 'Time from the headers of a request to the end of its answer.',
      labelNames: ['method', 'route'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    refusals: new Counter({
      name: 'petstock_refusals_total',
      help: 'Requests that were answered with 429, by code.',
      labelNames: ['code'],
      registers,
    }),
    bans: new Counter({ name: 'petstock_bans_total', help: 'Bans of keys that have begun.', registers }),
    operations: new Counter({
      name: 'petstock_stock_operations_total',
      help: 'Operations on the stock that went well.',
      labelNames: ['operation'],
      registers,
    }),
  };
}

/** The gauges of one look at the store: prom-client asks each by itself, and all at once. */
function addKeyGauges(register: Registry, store: Store, minuteMs: number): void {
  let looking: Promise<void> | null = null;
  const collect = () => {
    looking ??= look().finally(() => {
      looking = null;
    });
    return looking;
  };
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name: `petstock_${name}`, help, labelNames, registers: [register], collect });
  const up = gauge('store_up', '1 where the store can be used.');
  const limits = gauge('key_limit', 'Requests that a key may make.', 'key', 'window');
  const used = gauge('key_used', 'Requests that a key has made in the window that lasts.', 'key', 'window');
  const banned = gauge('key_banned', '1 while a key is banned.', 'key');
  const look = async () => {
    const records = await within(
      store.keys().catch(() => null),
      null,
    );
    const now = store.now();
    for (const one of [limits, used, banned]) one.reset();
    up.set(records === null ? 0 : 1);
    const valid = (records ?? []).filter(({ revokedAt }) => revokedAt === null);
    for (const { id: key, limits: most, usage } of valid.slice(0, KEYS_SHOWN)) {
      for (const [window, length] of [
        ['minute', minuteMs],
        ['day', DAY_MS],
      ] as const) {
        used.set({ key, window }, Number(windowAt(usage[window], now, length).used));
        limits.set({ key, window }, Number(most[window]));
      }
      banned.set({ key }, (usage.conduct.bannedUntil ?? 0) > now ? 1 : 0);
    }
  };
}
