/** Of Semantic Versioning, without what follows a `+`. */
const form = /^(\d+\.\d+\.\d+)(?:-([\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*))?$/;
/** A number with a zero in front. */
const padded = /(^|[.-])0\d+(?=[.-]|$)/;
/** Numbers by their value, and before words. */
const { compare } = new Intl.Collator('en-US-u-kn');

/**
 * Refuses what is no version after Semantic Versioning, or none that can come after the current one.
 * @throws Error that says which would do
 */
export function requireNextVersion(wanted: string, current: string): void {
  const [, next, candidate] = partsOf(wanted);
  const [, last, before] = partsOf(current);
  if (next === undefined) throw new Error(`"${wanted}" is not a version: it must be like 1.2.3 or 1.2.3-rc.1.`);
  if (last === undefined) throw new Error(`The version in package.json, "${current}", is not a version.`);
  // 1.2.3-rc.1 comes before 1.2.3.
  const order =
    compare(next, last) ||
    Number(candidate === undefined) - Number(before === undefined) ||
    compare(candidate ?? '', before ?? '');
  if (order <= 0) throw new Error(`${wanted} does not come after ${current}, the version in package.json.`);
}

function partsOf(version: string): readonly (string | undefined)[] {
  return (padded.test(version) ? null : form.exec(version)) ?? [];
}

/** Returns a version as Debian orders it: `1.2.3~rc.1` comes before `1.2.3`, and `1.2.3-rc.1` would come after it. */
export function debianVersion(version: string): string {
  return version.replace('-', '~');
}
