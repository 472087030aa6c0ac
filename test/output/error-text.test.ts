import { expect, test } from 'vitest';
import { withoutWords } from '../../src/output/error-text.ts';

const split = (message: string, said: string, status = 400) =>
  withoutWords({ message, service: { code: 'x', message: said, status } });

test.each([
  ['The service did not accept the key: key. The key came from: PETSTOCK_API_KEY.', 'key'],
  ['Rate limited: Rate limited. It works again in 3 s, at 12:00:03.', 'Rate limited'],
  ['The service refused it: refused.', 'refused'],
  ['The service refused it: service.', 'service'],
  ['The service failed: failed (500).', 'failed'],
  ['Rate limited: m. It works again in 3 s, at 12:00:03.', 'm'],
  ['It is not known whether the stock of pet 5 was set to 51: 51.', '51'],
  ['Nothing was written: all done.\nHint: petstock config set-key.', 'all done.\nHint: petstock config set-key'],
  ['Nothing was written: All done.', 'all done'],
])('takes words of the service out where they were put: %s', (message, said) => {
  const { own, words } = split(message, said);
  expect(words).toEqual([said]);
  expect(own).not.toContain(`: ${said}`);
  expect(own.length).toBeGreaterThan(5);
  expect(message.replace(/\s+/g, ' ')).toContain(own.slice(0, 12));
});

test.each([
  ['There is no pet 1 in staging.', 'pet 1'],
  ['There is no pet 3 in staging.', 'The'],
])('leaves a sentence of ours as it is, whatever the service has said: %s', (message, said) => {
  expect(split(message, said, 404).own).toBe(message);
});

test('says what was answered if there is no sentence of ours', () => {
  expect(split('All is lost.', 'All is lost').own).toBe('The service answered 400.');
  expect(split('The (500).', 'The', 500).own).toBe('The service answered 500.');
});
