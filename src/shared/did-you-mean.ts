/**
 * Returns the candidate that was most likely meant by `word`: one that begins with it, contains it as a part (`env` for
 * `default-env`), or differs by a few letters. Undefined if none is close.
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

/** Returns a text like ` Did you mean "production"?`, with a space before it; empty if no candidate is close. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const near = nearest(word, candidates);
  return near === undefined ? '' : ` Did you mean "${near}"?`;
}

function distanceTo(typed: string, candidate: string): number {
  if (plain(candidate) === typed) return 0;
  if (plain(candidate).startsWith(typed)) return 0.5;
  if (candidate.split(/[-.]/).includes(typed)) return 0.75;
  if (typed.length > 4 && plain(candidate).startsWith(typed.slice(0, -1))) return 0.9;
  return Math.abs(typed.length - candidate.length) > 8
    ? Number.POSITIVE_INFINITY
    : editDistance(typed, plain(candidate));
}

/** Removes what is often omitted or written differently: case, `-`, `_`, `.` and spaces. */
function plain(text: string): string {
  return text.toLowerCase().replace(/[-_.\s]/g, '');
}

/**
 * Returns how many letters must be added, removed, changed or swapped with their neighbour to turn one word into the
 * other (optimal string alignment).
 */
export function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current.push(
        Math.min(
          at(last, column) + 1,
          at(current, column - 1) + 1,
          at(last, column - 1) + (same ? 0 : 1),
          swapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    beforeLast = last;
    last = current;
  }
  return at(last, right.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
