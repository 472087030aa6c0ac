import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Goal } from './report.ts';
import { markdownCells } from './table.ts';

const file = fileURLToPath(new URL('../../../docs/performance.md', import.meta.url));

/**
 * Writes the goals of a benchmark into `docs/performance.md`, each into the row that begins with the same words.
 *
 * @throws Error if the document has no such row
 */
export function writeGoals(goals: readonly Goal[]): void {
  let document = readFileSync(file, 'utf8');
  for (const goal of goals) document = replaced(document, rowOf(goal), goalRow(goal));
  writeFileSync(file, document);
}

/** `| what | goal | reached | yes |` */
export function goalRow({ what, goal, reached, isReached }: Goal): string {
  if (isReached === undefined) return markdownCells([what, goal, reached, 'not measured']);
  return markdownCells([what, goal, isReached ? reached : `**${reached}**`, isReached ? 'yes' : '**no**']);
}

function rowOf({ what }: Goal): RegExp {
  return new RegExp(`^\\| ${what.replaceAll(/[^\w ,]/g, '\\$&')} \\|.*$`, 'm');
}

function replaced(text: string, place: RegExp, by: string): string {
  if (!place.test(text)) throw new Error(`docs/performance.md has no place for ${place.source}`);
  return text.replace(place, () => by);
}
