const form = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z.-]+))?$/;

/**
 * Refuses what is no version after Semantic Versioning, or none that can come after the current one.
 * @throws Error that says which would do
 */
export function requireNextVersion(wanted: string, current: string): void {
  const next = parse(wanted);
  const last = parse(current);
  if (next === undefined) throw new Error(`"${wanted}" is not a version: it must be like 1.2.3 or 1.2.3-rc.1.`);
  if (last === undefined) throw new Error(`The version in package.json, "${current}", is not a version.`);
  if (compare(next, last) <= 0)
    throw new Error(`${wanted} does not come after ${current}, the version in package.json.`);
}

/** Returns a version as Debian orders it: `1.2.3~rc.1` comes before `1.2.3`, and `1.2.3-rc.1` would come after it. */
export function debianVersion(version: string): string {
  return version.replace('-', '~');
}

interface Version {
  readonly numbers: readonly number[];
  readonly before: readonly string[];
}

function parse(text: string): Version | undefined {
  const [, major, minor, patch, before] = form.exec(text) ?? [];
  if (patch === undefined) return undefined;
  const parts = before?.split('.') ?? [];
  if (parts.some((part) => part === '' || /^0\d+$/.test(part))) return undefined;
  return { numbers: [major, minor, patch].map(Number), before: parts };
}

function compare(a: Version, b: Version): number {
  for (const [index, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  // 1.2.3-rc.1 comes before 1.2.3.
  if (a.before.length === 0 || b.before.length === 0) return b.before.length - a.before.length;
  for (let index = 0; index < Math.max(a.before.length, b.before.length); index += 1) {
    const [one, other] = [a.before[index], b.before[index]];
    if (one === undefined) return -1;
    if (other === undefined) return 1;
    const difference = compareParts(one, other);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Numbers by their value, and before words. */
function compareParts(one: string, other: string): number {
  const [isNumber, isOther] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (isNumber && isOther) return Number(one) - Number(other);
  if (isNumber !== isOther) return isNumber ? -1 : 1;
  return one < other ? -1 : one > other ? 1 : 0;
}
