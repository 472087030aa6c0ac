import { readFileSync } from 'node:fs';
import { allCommands } from '../../.ci/reference/reference.ts';
import { runProgram } from './program.ts';

/**
 * Returns the command lines of a document: the lines of its `sh` blocks, the lines after `$ ` in its `console` blocks,
 * and those in its tables. A block that is a script (`#!/bin/sh`) has a test of its own.
 */
export function examplesOfDocument(file: string): string[] {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/```(sh|console)\n(?!#!)([\s\S]*?)```/g)].flatMap(([, kind, body = '']) =>
    kind === 'sh' ? body.split('\n') : [...body.matchAll(/^\$ (.+)$/gm)].map(([, line = '']) => line),
  );
  const tables = text.split('\n').filter((line) => line.startsWith('| '));
  const cells = tables.flatMap((line) => [...line.matchAll(/`(petstock [^`]+)`/g)].map(([, code = '']) => code));
  return [...blocks, ...cells].filter((line) => /\bpetstock\b/.test(line) && !line.startsWith('#'));
}

/** Returns the examples in the help of all commands. */
export async function examplesOfHelp(): Promise<string[]> {
  const [, ...commands] = await allCommands();
  const helps = await Promise.all(commands.map(({ names }) => runProgram([...names, '--help'])));
  return helps.flatMap(({ stdout }) => {
    const [, examples = ''] = stdout.split('\nExamples:\n');
    return [...examples.matchAll(/^ {2}(petstock .*)$/gm)].map(([, line = '']) => line);
  });
}
