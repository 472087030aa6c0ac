import { describe, expect } from 'vitest';
import { changeFile, jsonLines, openShop, test } from '../../support/shop.ts';

const nothing = { PETSTOCK_URL_STAGING: undefined, PETSTOCK_API_KEY_STAGING: undefined };

describe('--debug', () => {
  test('prints one line per request and response with --debug, and never the key', async ({ shop }) => {
    const { stderr, stdout } = await shop.exits('inventory set 4 12 --expect 39 --debug', 0);
    expect(stderr.match(/^> .*/gm)).toHaveLength(2);
    expect(stderr.match(/^< 200 .*/gm)).toHaveLength(2);
    expect(stderr).toMatch(/^> PATCH http:\/\/127\.0\.0\.1:\d+\/v1\/inventory\/4 .*user-agent: petstock\/\d/m);
    expect(stderr).toMatch(/^< 200 PATCH .* \d+ ms .*x-ratelimit-remaining: 998/m);
    expect(stdout + stderr).not.toContain(shop.service.key);
  });

  test('prints a timestamped JSON line for each request and response with --debug=json', async ({ shop }) => {
    const { stderr } = await shop.run('--debug=json inventory get 4 -q');
    const events = jsonLines(stderr);
    const request = { at: expect.any(String), event: 'request', method: 'GET', url: `${shop.service.url}/inventory` };
    expect(events).toEqual([
      { ...request, headers: expect.anything() },
      expect.objectContaining({ event: 'response', status: 200, ms: expect.any(Number) }),
    ]);
    expect(events[0].at).toBe(new Date(Date.parse(events[0].at)).toISOString());
    expect(stderr).not.toContain(shop.service.key);
  });

  const bulk = `petId,quantity\n${[...'1234567'].map((petId) => `${petId},9\n`).join('')}`;
  test.for([
    ['inventory set 4 12', 0, ['note', 'request', 'response', 'note']],
    ['inventory apply FILE --yes', 0, ['note', 'request', 'response']],
    ['inventory adjust 4 +1 --expect 1', 7, ['request', 'response', 'note', 'error']],
    ['pets get 4', 0, ['warning']],
    ['inventory get 999 --json', 9, ['error']],
    ['inventory lst', 2, ['error']],
    ['inventory list --timeout x', 2, ['error']],
  ] as const)('prints all of stderr as JSON with --debug=json: %s', async ([command, code, events], { shop }) => {
    for (const terminal of [undefined, 60]) {
      const { stderr } = await shop.exits(`${command.replace('FILE', changeFile(shop, bulk))} --debug=json`, code, [], {
        terminal,
      });
      const lines = jsonLines(stderr);
      expect(lines.map(({ event }) => event)).toEqual(expect.arrayContaining([...events]));
      for (const { at, event, message, error } of lines) {
        expect(at).toBe(new Date(Date.parse(at)).toISOString());
        if (['note', 'warning', 'quote'].includes(event)) expect(message).toMatch(/^\S.*\S$/);
        if (event === 'error') expect(error).toMatchObject({ exitCode: code });
      }
      if (code > 0) expect(lines.at(-1)?.event).toBe('error');
    }
  });
});

test('prints a warning even with --quiet', async ({ shop }) => {
  const { stderr } = await shop.run('config set-url https://a.example/v1 -q');
  expect(stderr).toMatch(/^Warning: PETSTOCK_URL_STAGING is set.*\n$/);
});

test('accepts a --reason that looks like an option', async ({ shop }) => {
  // -yak must not be read as -y, which would answer the question.
  await shop.refused(`inventory apply ${changeFile(shop, 'petId,quantity\n4,7\n')} --reason -yak`);
  const reasons = ['-quick', '--yes', '-5', '-yak'];
  for (const reason of reasons)
    await shop.exits(`inventory -q adjust -q 4 -1 --reason${reason === '--yes' ? '=' : ' '}${reason}`, 0);
  const { stdout } = await shop.run('history list --fields reason');
  expect(stdout.trim().split('\n').reverse()).toEqual(reasons);
});

test.for(['--env=production', '--dry-run', '--yes'])(
  'refuses %s in place of the value of --reason',
  async (option, { shop }) => {
    const said = new RegExp(
      `Option "--reason <text>" needs a value, but "${option.split('=')[0]}" is an option. To use it as a value, write --reason=…`,
    );
    expect(await shop.refused(`inventory adjust 4 -1 --reason ${option}`)).toMatch(said);
  },
);

test.each([0, 2])('resends a write as often as --retries %i allows if it fails with 503', async (retries) => {
  const shop = await openShop({ faults: ['PATCH /inventory/*:status=503'] });
  for (const write of ['set 4 12', 'adjust 5 +1']) {
    const { requests } = await shop.run(`inventory ${write} --retries ${retries}`);
    expect(requests.filter(({ method }) => method === 'PATCH')).toHaveLength(retries + 1);
  }
});

test('config get exits with 1 if the value is not set', async ({ shop }) => {
  const { stdout } = await shop.exits(
    'config get url',
    1,
    ['Error: url.staging is not set.\n', "Hint: petstock config set-url 'https://<your-store>/v1' --env staging\n"],
    { env: nothing },
  );
  expect(stdout).toBe('');
  const json = await shop.exits('config get key --env production --json', 1, [], { env: nothing });
  expect(json.stdout).toBe('');
  for (const name of ['url', 'low-stock']) await shop.exits(`config get ${name}`, 0);
});
