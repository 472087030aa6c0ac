import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { serveValues, serviceOptionsOf } from '../../../src/cli/commands/sandbox/serve-values.ts';
import { startService } from '../../../src/service/index.ts';
import { GRANTS } from '../../../src/service/storage/postgres/database-errors.ts';
import { portOf } from '../../support/answering.ts';

const folder = join(import.meta.dirname, '../../../docs/hosting');
const read = (name: string) => readFileSync(join(folder, name), 'utf8');

type Variables = Readonly<Record<string, string>>;
const variablesOf = (text: string): Variables =>
  Object.fromEntries(
    [...text.matchAll(/(PETSTOCK_SERVE_\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
  );
/** The variables that the image sets. */
const image = variablesOf(/^ENV ((?:.*\\\n)*.*)$/m.exec(read('Dockerfile'))?.[1] ?? '');

interface Service {
  readonly environment: Variables;
  readonly ports?: readonly string[];
  readonly secrets: readonly string[];
}

function valuesOf(env: Variables) {
  const warnings: string[] = [];
  const values = serveValues({}, env, (line) => warnings.push(line));
  expect(warnings).toEqual([]);
  const { drain = 0, expose, keyFile } = values;
  return { ...serviceOptionsOf(values), drainMs: drain * 1000, expose, keyFile };
}

test('sets only valid options in the Docker image, and exposes the ports of the service', () => {
  const options = valuesOf(image);
  expect(options).toMatchObject({ host: '0.0.0.0', adminHost: '0.0.0.0', expose: true, file: '/data/stock.db' });
  const [, opened] = /^EXPOSE (.*)$/m.exec(read('Dockerfile')) ?? [];
  expect(opened).toBe(`${options.port} ${options.adminPort}`);
});

test.each([false, true])('takes the health of the image from the status of /healthz (TLS: %j)', async (isTls) => {
  const [, command = ''] = /^HEALTHCHECK .*? CMD (.*)$/m.exec(read('Dockerfile')) ?? [];
  const certificate = (name: string) => readFileSync(join(import.meta.dirname, '../../support/certificates', name));
  let status = 200;
  const answer: RequestListener = ({ url }, response) => response.writeHead(url === '/healthz' ? status : 404).end();
  const tls = { cert: certificate('server.pem'), key: certificate('server-key.pem') };
  const server = isTls ? createTlsServer(tls, answer) : createServer(answer);
  const env = {
    PATH: process.env.PATH,
    PETSTOCK_SERVE_ADMIN_PORT: `${await portOf(server)}`,
    ...(isTls ? { PETSTOCK_SERVE_TLS_CERT: '/run/secrets/cert.pem' } : {}),
  };
  const check = async () => (await once(spawn('sh', ['-c', command], { env }), 'close'))[0];
  expect(await check()).toBe(0);
  status = 503;
  expect(await check()).toBe(1);
});

test('gives both replicas in compose.yaml the same database, and a key from a secret', () => {
  const compose: { services: Record<string, Service>; secrets: object } = parse(read('compose.yaml'), { merge: true });
  const replicas = Object.entries(compose.services).filter(([name]) => name.startsWith('service-'));
  expect(replicas).toHaveLength(2);
  for (const [, { environment, ports = [], secrets }] of replicas) {
    const filledIn = (value: string) => value.replace(/\$\{(\w+)[^}]*\}/g, 'x'.repeat(20));
    const given = Object.entries(environment).map(([name, value]) => [name, filledIn(value)]);
    const options = valuesOf({ ...image, ...Object.fromEntries(given) });
    const database = `postgres://petstock:${'x'.repeat(20)}@database:5432/petstock?sslmode=disable`;
    expect(options).toMatchObject({ database, keyFile: `/run/secrets/${secrets[0]}`, drainMs: 5_000 });
    expect(options.file).toBeUndefined();
    expect(ports.map((port) => port.split(':').at(-1))).toEqual([`${options.port}`, `${options.adminPort}`]);
    expect(Object.keys(compose.secrets)).toEqual(expect.arrayContaining([...secrets]));
  }
});

test('uses only existing options in the hosting guide, the unit and the manifests', () => {
  const container = parseAllDocuments(read('kubernetes.yaml'))[0]?.toJS().spec.template.spec.containers[0];
  const unit = variablesOf(read('petstock.service').replace(/^#.*$/gm, ''));
  const ofPod = container.env.map(({ name, value }: { name: string; value?: string }) => [
    name,
    value ?? (name.endsWith('DATABASE') ? 'postgres://db.example/staging' : 'x'.repeat(20)),
  ]);
  expect(valuesOf(unit)).toMatchObject({ adminPort: 4011, drainMs: 5_000 });
  expect(valuesOf({ ...image, ...Object.fromEntries(ofPod) })).toMatchObject({ port: 4010, drainMs: 10_000 });
  expect(container.ports.map(({ containerPort }: { containerPort: number }) => containerPort)).toEqual([4010, 4011]);
  for (const [name] of read('../guide/hosting.md').matchAll(/PETSTOCK_SERVE_\w+/g)) {
    const warnings: string[] = [];
    try {
      serveValues({}, { [name]: 'true' }, (line) => warnings.push(line));
    } catch {}
    expect(warnings).toEqual([]);
  }
});

test('alerts.yaml uses only existing metrics, and has an alert for a service that is down', async () => {
  const service = await startService({ file: ':memory:', clock: Date, adminPort: 0 });
  onTestFinished(() => service.close());
  await fetch(`${service.url}/inventory`, { headers: { Authorization: `Bearer ${service.key}` } });
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
  const { groups } = parse(read('alerts.yaml')) as { groups: { rules: { expr: string }[] }[] };
  const asked = groups.flatMap(({ rules }) => rules.flatMap(({ expr }) => expr.match(/petstock_\w+/g) ?? []));
  expect(asked.length).toBeGreaterThan(5);
  for (const name of asked) expect(metrics).toMatch(new RegExp(`^${name}[{ ]`, 'm'));
  // A dead process exports no metrics, so an alert checks `up`.
  expect(groups.some(({ rules }) => rules.some(({ expr }) => /^up\{.*\} == 0/.test(expr)))).toBe(true);
});

test('roles.sql grants all the privileges that the service needs', () => {
  for (const grant of GRANTS) expect(read('roles.sql')).toContain(`${grant};`);
});
