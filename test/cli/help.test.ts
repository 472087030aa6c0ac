import { expect, test } from 'vitest';
import { type CommandFacts, commandFacts } from '../../.ci/reference/command-facts.ts';
import { topicNames } from '../../src/cli/commands/help/topic-names.ts';
import { openShop } from '../support/shop.ts';

const pathsOf = ({ path, commands }: CommandFacts): readonly string[] => [path, ...commands.flatMap(pathsOf)];

test('each command shows the same help in each way to ask for it, whatever the width', async () => {
  const shop = await openShop();
  const paths = pathsOf(await commandFacts());
  expect(paths.length).toBeGreaterThan(45);
  for (const path of paths) {
    const words = path.split(' ').filter((word) => word !== '');
    for (const width of path === 'inventory apply' ? [40, 80, 100] : [80]) {
      const texts = [];
      for (const line of [
        [...words, '--help'],
        [...words, '-h'],
        ['help', ...words],
        ['--color', 'never', ...words, '--help'],
      ])
        texts.push(await shop.run(line, { terminal: width }));
      const [first] = texts;
      expect(first?.stdout).toMatch(new RegExp(`^Usage: petstock( ${path})?( |\n)`));
      for (const { code, stdout, stderr } of texts)
        expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: first?.stdout, stderr: '' });
      const prose = first?.stdout.split('\n').filter((line) => !/^ {2,}(petstock|source|#)/.test(line)) ?? [];
      expect(prose.filter((line) => line.length > width)).toEqual([]);
    }
  }
});

test.each(topicNames)('help %s is a text', async (topic) => {
  const { code, stdout } = await (await openShop()).run(['help', topic]);
  expect({ code, isLong: stdout.split('\n').length > 5 }).toEqual({ code: 0, isLong: true });
});
