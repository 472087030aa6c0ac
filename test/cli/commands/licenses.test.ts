import { expect } from 'vitest';
import { test } from '../../support/shop.ts';

const licences = 'petstock 1.0.0\n\nMIT License\n\n---\n\nundici 7.0.0\n\nMIT License\n';

test('licenses prints the texts as they are, and sends nothing', async ({ shop }) => {
  const result = await shop.run('licenses', { licences });
  expect(result).toEqual({ code: 0, stdout: licences, stderr: '', requests: [] });
});

test('licenses --json has them as one text', async ({ shop }) => {
  const { stdout } = await shop.run('licenses --json', { licences });
  expect(JSON.parse(stdout)).toEqual({ text: licences });
});
