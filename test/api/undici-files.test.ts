import { expect, test } from 'vitest';
import { dependencies } from '../../package.json';

/**
 * `src/api/undici-files.ts` imports two files of undici that are not public. If this fails after an update, look where
 * they are now and what they export; or delete that file, as its comment describes, and this test.
 */
test("loads the same classes from undici's files as from its public entry", async () => {
  const [files, entry] = await Promise.all([import('../../src/api/undici-files.ts'), import('undici')]);
  expect(files.Agent).toBe(entry.Agent);
  expect(files.buildConnector).toBe(entry.buildConnector);
});

test('pins undici to one exact version', () => {
  expect(dependencies.undici).toMatch(/^\d+\.\d+\.\d+$/);
});
