import { expect, test } from 'vitest';
import { allHelp } from '../../src/cli/help-texts.ts';
import { openShop } from '../support/shop.ts';

test.each([40, 80, 100])('the help that is built for %i columns is what the program shows', async (width) => {
  const shop = await openShop();
  const texts = Object.entries(await allHelp(width));
  expect(texts.length).toBeGreaterThan(45);
  for (const [about, text] of texts) {
    for (const line of linesFor(about)) {
      const { code, stdout } = await shop.run(line, { terminal: width });
      expect({ line, code, stdout }).toEqual({ line, code: 0, stdout: text });
    }
  }
});

test('a command has help of its own, whatever its noun', async () => {
  const texts = await allHelp(80);
  const own = Object.entries(texts).filter(([about]) => about !== '' && !about.startsWith('topic:'));
  for (const [about, text] of own) expect(text).toMatch(new RegExp(`^Usage: petstock ${about}( |\n)`));
  expect(texts['']).toMatch(/^Usage: petstock /);
});

/** The ways to ask for it. */
function linesFor(about: string): readonly (readonly string[])[] {
  if (about.startsWith('topic:')) return [['help', about.slice(6)]];
  const words = about.split(' ').filter((word) => word !== '');
  return [
    [...words, '--help'],
    [...words, '-h'],
    ['help', ...words],
  ];
}
