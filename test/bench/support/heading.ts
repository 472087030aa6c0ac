import { load, machine } from './machine.ts';
import type { Results } from './rounds.ts';

/** What a table has to say of itself: how to make it again, when and where it was made, and with what. Markdown. */
export function heading(
  name: string,
  args: readonly string[],
  versions: readonly (string | undefined)[],
  results: Results,
): string {
  const command = ['npm run bench --', name, ...args].join(' ');
  const date = new Date().toISOString().slice(0, 10);
  const tools = [`Node ${process.versions.node}`, ...versions.filter((version) => version !== undefined)].join(', ');
  return `\`${command}\` on ${date}; ${machine()}, ${load()} at the end; ${tools}. Medians of ${roundsOf(results)} interleaved rounds.\n`;
}

/** `3 rounds`, or `3 rounds; in 1: curl, jq @tsv`, where some were measured less often. */
export function roundsText(results: Results): string {
  const all = roundsOf(results);
  const fewer = new Map<number, string[]>();
  for (const { name, samples } of results.all) {
    if (samples.length < all) fewer.set(samples.length, [...(fewer.get(samples.length) ?? []), name]);
  }
  const parts = Array.from(fewer, ([rounds, names]) => `in ${rounds}: ${names.join('; ')}`);
  return [`${all} ${all === 1 ? 'round' : 'rounds'}`, ...parts].join('; ');
}

/** In how many of them somebody was measured. */
export function roundsOf(results: Results): number {
  return Math.max(...results.all.map(({ samples }) => samples.length));
}
