import { isLoopback } from './admin/host.ts';
import { parseFault } from './faults/grammar.ts';
import { Cors } from './http/cors.ts';
import { ApiServer } from './http/server.ts';
import type { TlsFiles } from './http/tls.ts';
import { generateAdminToken, generateKey } from './keys/key.ts';
import { type Grant, KeyRing } from './keys/key-ring.ts';
import { AddressBuckets } from './limits/addresses.ts';
import { openStore } from './open-store.ts';
import { DEFAULTS, type RunningService, type ServiceOptions } from './options.ts';
import { seededStock } from './seed/stock.ts';
import { Service } from './service.ts';
import type { Store } from './store/store.ts';

/**
 * Starts the service. Any number of them, in any number of processes, may serve one file.
 *
 * @throws FaultSpecError when a fault cannot be read
 * @throws StorageError when the file or the database cannot be used
 * @throws TlsError, RangeError for a certificate or a trusted proxy that cannot be used
 * @throws what the system says when it cannot listen, for example EADDRINUSE
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  for (const spec of options.faults ?? []) parseFault(spec);
  const key = options.key ?? generateKey();
  const stock = options.stock ?? seededStock(options);
  const store = await openStore({ ...options, stock, keepsJournal: options.adminPort !== undefined });
  try {
    const grant = grantOf(options);
    await store.faults.add(options.faults ?? []);
    await new KeyRing(store).adopt(key, grant ?? DEFAULTS.plan, { keepsKnown: grant === undefined });
    return await serve(await assemble(options, store), options, key);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function assemble(options: ServiceOptions, store: Store): Promise<Service> {
  const minuteMs = (options.windowSeconds ?? DEFAULTS.windowSeconds) * 1000;
  const ban = options.ban ?? DEFAULTS.ban;
  return new Service({
    store,
    clock: options.clock,
    rules: { minuteMs, ban: ban === false ? null : ban },
    addresses: new AddressBuckets(minuteMs, addressLimitOf(options)),
    cors: new Cors(options.cors ?? []),
    bounds: { min: options.quantityBounds?.min ?? null, max: options.quantityBounds?.max ?? null },
    log: options.log,
    metrics: options.adminPort === undefined ? null : (await import('./metrics.ts')).createMetrics(store, minuteMs),
  });
}

async function serve(service: Service, options: ServiceOptions, key: string): Promise<RunningService> {
  const { host = DEFAULTS.host, tls, trustProxy, patience = DEFAULTS.patience } = options;
  const keepAliveMs = (options.keepAliveSeconds ?? DEFAULTS.keepAliveSeconds) * 1000;
  const api = new ApiServer(service, { patience, keepAliveMs, tls, trustProxy });
  const url = `${origin(host, await api.listen(options.port ?? DEFAULTS.port, host), tls)}/v1`;
  const admin = await startAdmin(service, options, url).catch(async (error: unknown) => {
    await api.stop();
    throw error;
  });
  let closing: Promise<void> | null = null;
  return {
    url,
    adminToken: admin?.token ?? null,
    adminUrl: admin?.url ?? null,
    key,
    journal: () => service.store.journal.entries(),
    setFaults: (specs) => service.store.faults.replace(specs),
    advanceClock: (seconds) => service.store.advance(seconds * 1000),
    reloadTls: () => {
      api.reloadTls();
      admin?.server.reloadTls();
    },
    drain: () => {
      service.draining = true;
      api.drain();
    },
    close: () => {
      service.draining = true;
      closing ??= api
        .stop()
        .then(() => admin?.server.stop())
        .then(() => service.store.close());
      return closing;
    },
  };
}

/** Null where it is not asked for. Over TLS only where others reach it: on loopback those who look after the service need none. */
async function startAdmin(service: Service, options: ServiceOptions, serviceUrl: string) {
  const { host = DEFAULTS.host, adminPort, adminToken: token = generateAdminToken() } = options;
  if (adminPort === undefined) return null;
  const adminHost = options.adminHost ?? (isLoopback(host) ? host : DEFAULTS.host);
  const tls = isLoopback(adminHost) ? undefined : options.tls;
  const { AdminServer } = await import('./admin/server.ts');
  const server = new AdminServer(service, { serviceUrl, token, tls, isLocal: isLoopback(adminHost) });
  return { server, token, url: origin(adminHost, await server.listen(adminPort, adminHost), tls) };
}

function origin(host: string, port: number, tls: TlsFiles | undefined): string {
  return `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function addressLimitOf({ addressLimit = DEFAULTS.addressLimit }: ServiceOptions): bigint | null {
  return addressLimit === false ? null : BigInt(addressLimit);
}

/** What the options say about the key; undefined when they say nothing. */
function grantOf({ limits, plan }: ServiceOptions): Grant | undefined {
  return limits === undefined ? plan : { minute: BigInt(limits.minute), day: BigInt(limits.day) };
}
