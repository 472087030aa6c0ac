import { Command } from 'commander';
import { expect, test } from 'vitest';
import {
  addCommands,
  finish,
  type Outline,
  PetstockCommand,
  type VerbOutline,
} from '../../../src/cli/commands/command.ts';
import { commandOutlines } from '../../../src/cli/commands/index.ts';
import type { Run } from '../../../src/cli/invocation/invocation.ts';

const run: Run = (action) => async () => void action;

/** Every verb with the nouns before it: `sandbox keys create`. */
function verbs(outlines: readonly Outline[], nouns = ''): [path: string, outline: VerbOutline][] {
  return outlines.flatMap((outline) =>
    'commands' in outline
      ? verbs(outline.commands, `${nouns}${outline.usage} `)
      : [[`${nouns}${outline.usage}`, outline] as [string, VerbOutline]],
  );
}

test.each(verbs(commandOutlines))('the outline of "%s" tells of the operands that it takes', async (_path, outline) => {
  const command = new Command(outline.usage.split(' ')[0]);
  (await outline.load())(command, run);
  const told = command.registeredArguments.map((operand) => {
    const name = `${operand.name()}${operand.variadic ? '...' : ''}`;
    return operand.required ? `<${name}>` : `[${name}]`;
  });
  expect([command.name(), ...told].join(' ')).toBe(outline.usage);
  expect(command.description()).not.toBe('');
  expect(command.registeredArguments.filter(({ description }) => description === '')).toEqual([]);
});

function sketch(argv?: readonly string[]) {
  const loaded: string[] = [];
  const verb = (usage: string): VerbOutline => ({
    usage,
    summary: `does ${usage}`,
    load: async () => {
      loaded.push(usage);
      return (command) => void command.argument('[what]').action(() => {});
    },
  });
  const program = new PetstockCommand('program');
  program.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });
  const noun = { usage: 'noun', summary: 'a noun', description: 'A noun.', commands: [verb('one'), verb('two')] };
  program.option('-f, --flag').option('--name <text>');
  addCommands(program, [noun, verb('three'), verb('help')], run, argv);
  return { program, loaded };
}

test('only the command that is chosen is loaded', async () => {
  const { program, loaded } = sketch();
  await program.parseAsync(['noun', 'two', 'thing'], { from: 'user' });
  expect(loaded).toEqual(['two']);
});

test('nothing is loaded for the help of a noun, which shows the outlines of its commands', async () => {
  const { program, loaded } = sketch();
  await expect(program.parseAsync(['noun', '--help'], { from: 'user' })).rejects.toMatchObject({ exitCode: 0 });
  expect(program.commands[0]?.helpInformation()).toContain('does two');
  expect(loaded).toEqual([]);
});

const all = ['noun', 'three', 'help'];

test.each([
  ['noun two thing', ['noun']],
  ['-f --name noun three thing', ['three']],
  ...['--name three', '--name=x noun two', '-fz noun', '-- noun', 'none noun', 'help noun'].map((line) => [line, all]),
] as [line: string, made: readonly string[]][])('of "%s" these commands are made: %s', (line, made) => {
  expect(sketch(line.split(' ')).program.commands.map((command) => command.name())).toEqual(made);
});

test('a command is finished once', async () => {
  const { program, loaded } = sketch();
  const three = program.commands[1] as PetstockCommand;
  for (const _time of [1, 2]) await finish(three);
  await program.parseAsync(['three', 'thing'], { from: 'user' });
  expect(loaded).toEqual(['three']);
  expect(three.registeredArguments).toHaveLength(1);
});
