/**
 * The candidate that somebody who typed `word` most likely meant: one that begins with it, has it as one of its parts
 * (`env` for `default-env`), or is a few letters away. Undefined where nothing is near.
 */
export function nearest<Name extends string>(word: string, candidates: readonly Name[]): Name | undefined {
  const typed = plain(word);
  if (typed.length < 2) return undefined;
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: distanceTo(typed, candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((left, right) => left.distance - right.distance);
  return ranked[0]?.candidate;
}

/** ` Did you mean "production"?`, or nothing. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const near = nearest(word, candidates);
  return near === undefined ? '' : ` Did you mean "${near}"?`;
}

function distanceTo(typed: string, candidate: string): number {
  if (plain(candidate) === typed) return 0;
  if (plain(candidate).startsWith(typed)) return 0.5;
  if (candidate.split(/[-.]/).includes(typed)) return 0.75;
  if (typed.length > 4 && plain(candidate).startsWith(typed.slice(0, -1))) return 0.9;
  return editDistance(typed, plain(candidate));
}

/** Without what people leave out or write otherwise: case, `-`, `_`, `.` and spaces. */
function plain(text: string): string {
  return text.toLowerCase().replace(/[-_.\s]/g, '');
}

/** Levenshtein's, with two neighbours swapped as one edit. */
function editDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > 5) return Number.POSITIVE_INFINITY;
  const rows: number[][] = [];
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 0; i <= left.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= right.length; j++) {
      let best = i === 0 ? j : Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1);
      if (i > 0) best = Math.min(best, at(i - 1, j - 1) + (left[i - 1] === right[j - 1] ? 0 : 1));
      const swapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      rows[i]?.push(swapped ? Math.min(best, at(i - 2, j - 2) + 1) : best);
    }
  }
  return at(left.length, right.length);
}
