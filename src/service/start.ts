import { Controls } from './controls.ts';
import { FaultSet } from './faults/fault-set.ts';
import { parseFault } from './faults/grammar.ts';
import { Cors } from './http/cors.ts';
import { openFiles } from './http/open-files.ts';
import { ApiServer } from './http/server.ts';
import type { TlsFiles } from './http/tls.ts';
import { Journal } from './journal.ts';
import { generateAdminToken, generateKey, idOfKey } from './keys/key.ts';
import { addressBuckets } from './limits/admission.ts';
import { isLoopback, type ServiceOptions } from './options.ts';
import { seededStock } from './seed/stock.ts';
import { createService, type Service, usabilityOf } from './service.ts';
import { adoptKey, type KeyGrant, openStorage } from './storage/open-storage.ts';
import type { ServiceStorage } from './storage/storage.ts';

/**
 * Starts the service. Any number of services, in any number of processes, may share one file or database.
 * @throws FaultSpecError if a fault can't be parsed
 * @throws StorageError if the file or the database can't be used
 * @throws TlsError if the certificate can't be used; RangeError if a trusted proxy is not a network
 * @throws the system's error if the service can't listen, for example EADDRINUSE
 */
export async function startService(options: ServiceOptions) {
  for (const spec of options.faults ?? []) parseFault(spec);
  const key = options.key ?? generateKey();
  const stock = options.stock ?? seededStock(options);
  const storage = await openStorage({ ...options, stock });
  try {
    const grant = grantOf(options);
    const origin = options.isKeyOfFile === true ? 'key-file' : undefined;
    const { revokedAt } = await adoptKey(storage, key, grant ?? 'business', {
      keepsKnown: grant === undefined,
      origin,
    });
    // A service that returns lists but refuses every change must not start.
    await storage.check();
    const replacedKeys = origin === undefined ? [] : await keysOf(storage, origin, key);
    const service = await assemble(options, storage, new Controls(storage, stock));
    return {
      ...(await serve(service, options)),
      /** The key of this service, such as `psk_…`. */
      key,
      keyId: idOfKey(key),
      /** Whether the key was revoked, so that requests with it are refused. */
      isKeyRevoked: revokedAt !== null,
      /** Ids of valid keys that the key file contained before. */
      replacedKeys,
      /** Whether the storage is new, with the given stock. */
      isStorageNew: storage.isNew,
    };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

export type RunningService = Awaited<ReturnType<typeof startService>>;

async function keysOf(storage: ServiceStorage, origin: string, key: string): Promise<readonly string[]> {
  const others = (await storage.keys()).filter((one) => one.origin === origin && one.revokedAt === null);
  return others.map(({ id }) => id).filter((id) => id !== idOfKey(key));
}

async function assemble(options: ServiceOptions, storage: ServiceStorage, controls: Controls): Promise<Service> {
  const {
    windowSeconds = 60,
    ban = { strikes: 10, seconds: 300 },
    addressLimit = 600,
    clock,
    log,
    tell = () => {},
  } = options;
  const minuteMs = windowSeconds * 1000;
  const metrics = options.adminPort === undefined ? null : await import('./metrics.ts');
  const isUsable = usabilityOf(storage, tell);
  return createService({
    storage,
    isUsable,
    controls,
    faults: new FaultSet(options.faults ?? []),
    journal: new Journal(options.testControls === true),
    clock,
    rules: { minuteMs, ban: ban === false ? null : ban },
    addresses: addressBuckets(minuteMs, addressLimit === false ? null : BigInt(addressLimit)),
    cors: new Cors(options.cors ?? []),
    bounds: { min: options.quantityBounds?.min ?? null, max: options.quantityBounds?.max ?? null },
    log,
    tell,
    metrics: metrics?.createMetrics({ storage, isUsable, clock, minuteMs }) ?? null,
  });
}

const LOOPBACK = '127.0.0.1';

const DEFAULT_TIMEOUTS = { headersMs: 60_000, requestMs: 300_000 };

async function serve(service: Service, options: ServiceOptions) {
  const { host = LOOPBACK, port = 0, tls, trustProxy, keepAliveSeconds = 75, timeouts = DEFAULT_TIMEOUTS } = options;
  const { maxConnections = Math.floor(openFiles() / 2) } = options;
  const api = new ApiServer(service, {
    timeouts,
    keepAliveMs: keepAliveSeconds * 1000,
    tls,
    trustProxy,
    maxConnections,
  });
  const url = `${origin(host, await api.listen(port, host), tls)}/v1`;
  const admin = await startAdmin(service, options, url).catch(async (error: unknown) => {
    await api.stop();
    throw error;
  });
  let closing: Promise<void> | null = null;
  return {
    /** Base address, for example http://127.0.0.1:4010/v1 */
    url,
    adminToken: admin?.token ?? null,
    adminUrl: admin?.url ?? null,
    controls: service.controls,
    /** Milliseconds since the Unix epoch, by the service's clock. */
    now: () => service.storage.now(),
    /** The last requests, oldest first; empty without `testControls`. */
    journal: () => service.journal.entries(),
    /** @throws FaultSpecError if a fault can't be parsed; then nothing is replaced */
    setFaults: (specs: readonly string[]) => service.faults.replace(specs),
    advanceClock: (seconds: number) => service.storage.advance(seconds * 1000),
    /** @throws TlsError if the certificate or its key can't be used; then the previous ones stay in use */
    reloadTls: () => {
      api.reloadTls();
      admin?.server.reloadTls();
    },
    /** Makes `/readyz` fail, and ends connections with their next response. Requests are still handled. */
    drain: () => {
      service.draining = true;
      api.drain();
    },
    /** Stops listening, waits at most 5 s for pending requests, and closes the storage. */
    close: () => {
      service.draining = true;
      closing ??= api
        .stop()
        .then(() => admin?.server.stop())
        .then(() => service.storage.close());
      return closing;
    },
  };
}

/**
 * Starts the administration server; returns null if none is requested. On an address other than loopback, it uses the
 * service's certificate, if there is one.
 */
async function startAdmin(service: Service, options: ServiceOptions, serviceUrl: string) {
  const { host = LOOPBACK, adminPort, adminToken: token = generateAdminToken(), metricsToken } = options;
  if (adminPort === undefined) return null;
  const adminHost = options.adminHost ?? (isLoopback(host) ? host : LOOPBACK);
  const isLocal = isLoopback(adminHost);
  const tls = isLocal ? undefined : options.tls;
  const hasTestControls = options.testControls === true;
  const { AdminServer } = await import('./admin/server.ts');
  const server = new AdminServer(service, { serviceUrl, token, metricsToken, hasTestControls, tls, isLocal });
  return { server, token, url: origin(adminHost, await server.listen(adminPort, adminHost), tls) };
}

function origin(host: string, port: number, tls: TlsFiles | undefined): string {
  return `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns the limits or the plan that the options give the key; undefined if they give none. */
function grantOf({ limits, plan }: ServiceOptions): KeyGrant | undefined {
  return limits === undefined ? plan : { minute: BigInt(limits.minute), day: BigInt(limits.day) };
}
