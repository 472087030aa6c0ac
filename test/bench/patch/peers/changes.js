import { readFileSync } from 'node:fs';

/** The changes of a CSV file without quotes: an iterator, so that several workers can share it. */
export function readChanges(path) {
  const [, ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => line.split(',')).values();
}

/** Works so many at a time. @param work is given id and quantity, and throws where a change was not made */
export async function work(changes, atOnce, work) {
  const worker = async () => {
    for (const [petId, quantity] of changes) await work(petId, quantity);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
