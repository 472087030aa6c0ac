import { describe, expect } from 'vitest';
import { answering as answeringService } from '../../../support/answering.ts';
import { answers, normally } from '../../../support/scripted-actions.ts';
import type { Action } from '../../../support/scripted-service.ts';
import { errorJson, openShop, type Shop } from '../../../support/shop.ts';
import { openTill, test } from '../../../support/till.ts';

async function answering(body: string) {
  const env = { PETSTOCK_URL_STAGING: await answeringService(200, body) };
  const shop = await openShop();
  return { run: (command: string, terminal?: number): ReturnType<Shop['run']> => shop.run(command, { env, terminal }) };
}

describe('a status that the specification does not name', () => {
  const body = '[{"petId":1,"quantity":5,"status":"lost"},{"petId":2,"quantity":5,"status":"eaten"}]';

  test('is shown as it came, with one warning', async () => {
    const { run } = await answering(body);
    const { code, stdout, stderr } = await run('inventory list');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '1\t5\tlost\n2\t5\teaten\n' });
    expect(stderr.match(/^Warning: .*\n│ lost$/gm)).toHaveLength(1);
    expect(stderr.match(/^Warning/gm)).toHaveLength(1);
  });

  test('is counted by its name in the summary', async () => {
    const { run } = await answering(body);
    const { stdout } = await run('inventory list --summary --json');
    expect(Object.keys(JSON.parse(stdout).byStatus)).toEqual(['available', 'pending', 'sold', 'eaten', 'lost']);
  });
});

test.each([
  ['[{"petId":1,"quantity":5}]', '"status" in item 1 of the answer is missing'],
  ['[{"petId":1,', 'is not valid JSON'],
  ['<html><body>Log in</body></html>', 'is HTML'],
])('an answer that makes no sense is exit 1 and prints nothing: %s', async (body, told) => {
  const { run } = await answering(body);
  const { code, stdout, stderr } = await run('inventory list');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(`Error: The answer to GET /inventory `);
  expect(stderr).toContain(told);
  expect(stderr).not.toContain('experimental');
});

test('the answer to a PATCH that makes no sense says that the operation is experimental', async () => {
  const { run } = await answering('{"petId":4,"stock":{"quantity":12},"status":"available"}');
  const { code, stderr } = await run('inventory set 4 12');
  // Nor can the stock be read back from it.
  expect(code).toBe(8);
  expect(stderr).toContain('"quantity" in the answer is missing. This operation is marked experimental');
});

test('an answer about another pet, or with another quantity, is not taken for the one that was asked for', async () => {
  const { run } = await answering('{"petId":4,"quantity":12,"status":"available"}');
  const aboutAnother = await run('inventory set 5 12');
  expect(aboutAnother).toMatchObject({ code: 8, stdout: '' });
  expect(aboutAnother.stderr).toContain('It is not known whether the stock of pet 5 was set to 12');
  const other = await run('inventory set 4 13');
  expect(other).toMatchObject({ code: 8, stdout: expect.stringMatching(/^4\t12\tavailable\t\t/) });
  expect(other.stderr).toContain('Error: The service set the stock of pet 4 to 12, not to 13.\n');
});

test('a plain set that is refused after an attempt without an outcome is unknown, and a resume settles it', async ({
  till: { service, run },
}) => {
  service.next('PATCH', answers(503), answers(403));
  const { code, stderr } = await run('inventory set 1 50');
  expect(code).toBe(8);
  expect(stderr).toContain('Error: It is not known whether the stock of pet 1 was set to 50');
  expect(stderr).toMatch(/\nHint: petstock inventory apply --resume \S+ --env staging\n/);
});

describe('with --json the message of exit 8 is that of the service, and behind it what was written', () => {
  test('in a run that the service ended', async ({ till: { service, run } }) => {
    service.next('PATCH', normally, answers(401));
    const stdin = 'petId,quantity\n1,5\n2,6\n3,7\n';
    const { code, stderr } = await run('inventory apply - --yes --json --concurrency 1', { stdin });
    expect(code).toBe(8);
    expect(errorJson(stderr).error).toMatchObject({
      code: 'scripted',
      status: 401,
      message: 'scripted: scripted\n1 of 3 changes was written; 2 were not attempted',
    });
  });

  test('of a single write', async ({ till: { service, run } }) => {
    service.next('PATCH', answers(503), answers(403));
    const { code, stderr } = await run('inventory set 1 50 --json');
    expect(code).toBe(8);
    expect(errorJson(stderr).error.message).toMatch(
      /^scripted: scripted\nIt is not known whether the stock of pet 1 was set to 50$/,
    );
  });
});

describe('a redirect is no proof that nothing was written', () => {
  const moved: Action = (exchange) => exchange.answer(302, '', { location: '/v1/elsewhere' });
  const committedMoved: Action = (exchange) => {
    exchange.commit();
    return moved(exchange);
  };

  async function redirecting(command: string, action: Action, stdin?: string) {
    const till = await openTill();
    till.service.always('PATCH', action);
    const result = await till.run(`${command} --json`, { stdin });
    return { ...result, sent: result.requests.map(({ method }) => method).join(' '), shop: till };
  }

  test('a plain set is unknown where it is not', async () => {
    const { code, sent, stderr, shop } = await redirecting('inventory set 1 5', moved);
    expect({ code, sent }).toEqual({ code: 8, sent: 'PATCH GET' });
    expect(errorJson(stderr).error.message).toMatch(
      /^It is not known whether the stock of pet 1 was set to 5: The service redirects/,
    );
    expect((await shop.run('history list --json')).stdout).toContain('"unknown":1');
  });

  test('a write that has read the stock before knows that it was not written yet', async () => {
    const { code, sent, stderr } = await redirecting('inventory adjust 1 +5', moved);
    expect({ code, sent }).toEqual({ code: 1, sent: 'GET PATCH GET' });
    expect(errorJson(stderr).error.message).toContain('redirects a PATCH with 302');
  });

  test('a run ends at it, and says of each row what is certain', async () => {
    const file = 'petId,quantity\n1,5\n2,6\n3,7\n';
    const written = await redirecting('inventory apply - --yes --concurrency 1', committedMoved, file);
    expect({ code: written.code, sent: written.sent }).toEqual({ code: 8, sent: 'GET PATCH GET' });
    expect(JSON.parse(written.stdout).counts).toMatchObject({ applied: 1, notAttempted: 2, unknown: 0 });
    const { code, stdout, stderr } = await redirecting('inventory apply - --yes --concurrency 1', moved, file);
    expect(code).toBe(1);
    expect(JSON.parse(stdout).counts).toMatchObject({ applied: 0, failed: 1, notAttempted: 2, unknown: 0 });
    expect(errorJson(stderr).error.message).toContain('No change has reached the stock so far');
  });

  test('of several rows it is said that the stock of them is read', async () => {
    const { stderr } = await redirecting(
      'inventory apply - --yes --concurrency 3',
      moved,
      'petId,quantity\n1,5\n2,6\n3,7\n',
    );
    expect(stderr).toContain('reading their stock.\n');
  });

  test('that the stock could not be read back is not said where the answer is the same', async ({ shop }) => {
    const env = { PETSTOCK_URL_STAGING: await answeringService(307, '', { location: 'http://localhost:1/v1' }) };
    const { code, stderr } = await shop.run('inventory set 4 12', { env });
    expect(code).toBe(8);
    expect(stderr).toContain('It is not known whether the stock of pet 4 was set to 12');
    expect(stderr.match(/redirects/g)).toHaveLength(1);
    expect(stderr).not.toContain('read back');
  });
});
