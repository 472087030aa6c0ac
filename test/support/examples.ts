import { readFileSync } from 'node:fs';
import { runProgram } from './program.ts';

/** The command lines of a document: those of its `sh` blocks, after `$ ` in its `console` blocks, and in its tables. */
export function examplesOfDocument(file: string): string[] {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/```(sh|console)\n([\s\S]*?)```/g)].flatMap(([, kind, body = '']) =>
    kind === 'sh' ? body.split('\n') : [...body.matchAll(/^\$ (.+)$/gm)].map(([, line = '']) => line),
  );
  const tables = text.split('\n').filter((line) => line.startsWith('| '));
  const cells = tables.flatMap((line) => [...line.matchAll(/`(petstock [^`]+)`/g)].map(([, code = '']) => code));
  return [...blocks, ...cells].filter((line) => /\bpetstock\b/.test(line) && !line.startsWith('#'));
}

/** The examples under the help of every command. */
export async function examplesOfHelp(words: readonly string[] = []): Promise<string[]> {
  const { stdout } = await runProgram(['help', ...words]);
  const own = /\n(?:Examples|First steps):\n([\s\S]*)$/.exec(stdout)?.[1] ?? '';
  const lines = own.split('\n').filter((line) => /^ {2}petstock /.test(line));
  const commands = /\nCommands:\n([\s\S]*?)\n(?:\n|$)/.exec(stdout)?.[1] ?? '';
  const names = [...commands.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name);
  const children = names.filter((name) => name !== 'help').map((name) => examplesOfHelp([...words, name]));
  return [...lines.map((line) => line.trim()), ...(await Promise.all(children)).flat()];
}
