import { describe, expect, test } from 'vitest';
import { type Petstock, petstockAt } from '../../support/petstock.ts';
import type { ProgramResult } from '../../support/program.ts';
import { slowly } from '../../support/scripted-actions.ts';
import { type ScriptedService, scriptedService } from '../../support/scripted-service.ts';

/** One service by two names, as two environments have it, or two people spell it. */
const names = [
  [
    '127.0.0.1 and localhost',
    (service: ScriptedService) => [
      { PETSTOCK_URL_STAGING: service.url },
      { PETSTOCK_URL_STAGING: service.url.replace('127.0.0.1', 'localhost') },
    ],
  ],
  [
    'staging and production with one URL',
    (service: ScriptedService) => [
      { PETSTOCK_ENV: 'staging' },
      { PETSTOCK_ENV: 'production', PETSTOCK_URL_PRODUCTION: service.url, PETSTOCK_API_KEY_PRODUCTION: service.key },
    ],
  ],
] as const;

describe.each(names)('%s are one service', (_what, environments) => {
  test('adjusts of one pet add up', async () => {
    const service = await scriptedService({ stock: { 1: 0 } });
    service.always('GET', slowly(100));
    service.always('PATCH', slowly(300));
    const results = await runEach(petstockAt(service), environments(service), 8, 'inventory adjust 1 +1 --yes -q');
    expect(results.filter(({ code }) => code !== 0)).toEqual([]);
    expect(service.stockOf(1)).toBe(8);
  });
});

test('127.0.0.1 and localhost share one limit', async () => {
  const service = await scriptedService({ limit: { limit: 3, seconds: 2 } });
  service.always('GET', slowly(300));
  const [[, environments]] = names;
  const results = await runEach(petstockAt(service), environments(service), 12, 'inventory list -q');
  expect(results.filter(({ code }) => code !== 0)).toEqual([]);
  expect(service.requests.filter(({ status }) => status === 429)).toEqual([]);
});

/** So many at once, the environments in turn. */
function runEach(
  petstock: Petstock,
  environments: readonly Readonly<Record<string, string>>[],
  count: number,
  command: string,
): Promise<readonly ProgramResult[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      petstock.run(command, { env: environments[index % environments.length] }),
    ),
  );
}
