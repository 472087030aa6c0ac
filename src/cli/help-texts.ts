import { wrapLong } from '../output/help-text.ts';
import { topicNames } from './commands/help/topic-names.ts';
import { commandOutlines } from './commands/index.ts';
import type { Outline } from './commands/outline.ts';
import { outlineName } from './commands/outline.ts';
import { createProgram, parse } from './program.ts';

/**
 * All that help can be asked for, at one width: `''` for the program, `inventory list`, `topic:files`. The build puts it
 * where `bin/petstock.ts` finds it.
 */
export async function allHelp(width: number): Promise<Readonly<Record<string, string>>> {
  const commands = ['', 'help', ...pathsOf(commandOutlines)];
  const texts: Record<string, string> = {};
  for (const command of commands) texts[command] = await helpOf(`${command} --help`, width);
  for (const topic of topicNames) texts[`topic:${topic}`] = await helpOf(`help ${topic}`, width);
  return texts;
}

function pathsOf(outlines: readonly Outline[]): string[] {
  return outlines.flatMap((outline) => {
    const name = outlineName(outline);
    const below = 'commands' in outline ? pathsOf(outline.commands) : [];
    return [name, ...below.map((path) => `${name} ${path}`)];
  });
}

async function helpOf(line: string, width: number): Promise<string> {
  let text = '';
  const writeOut = (piece: string) => {
    text += piece;
  };
  const run = () => async () => {
    throw new Error(`"${line}" is no question for help`);
  };
  await parse(createProgram({ writeOut, width, run }), line.trim().split(' '));
  return wrapLong(text, width);
}
