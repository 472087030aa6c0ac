import { createRequire } from 'node:module';

/** npm's functions for versions by Semantic Versioning. */
const { lt, valid } = createRequire(import.meta.url)('semver');

/**
 * Checks the version of a release.
 * @throws Error if `wanted` is not a version, has build metadata (`+`), or comes before `current`
 */
export function requireNotEarlier(wanted: string, current: string): void {
  if (valid(wanted) !== wanted) throw new Error(`"${wanted}" is not a version. Write one like 1.2.3 or 1.2.3-rc.1.`);
  if (lt(wanted, current)) throw new Error(`${wanted} comes before ${current}, the version in package.json.`);
}

const unreleasedHead = /^## \[?Unreleased\]?[ \t]*$/im;

/**
 * Returns the content below `## Unreleased`, or below the heading of a released version, of a change log in the format
 * of Keep a Changelog.
 * @throws Error if there is no such heading, or nothing below it
 */
export function notesOf(changelog: string, version?: string): string {
  const released = new RegExp(`^## ${version?.replaceAll('.', '\\.')} - [\\d-]+$`, 'm');
  const [, rest] = changelog.split(version === undefined ? unreleasedHead : released, 2);
  const name = version ?? 'Unreleased';
  if (rest === undefined) throw new Error(`CHANGELOG.md has no heading "## ${name}".`);
  const notes = rest.split(/^## /m, 1).join().trim();
  // Subheadings alone are not content.
  if (!/^[-*+] |^\d+\. |^[^#\s]/m.test(notes))
    throw new Error(`There is nothing below "## ${name}" in CHANGELOG.md. Write what has changed.`);
  return `${notes}\n`;
}

/**
 * Returns the change log with the unreleased part moved below the version.
 * @param date the day of the release, such as `2026-01-31`
 */
export function releasedChangelog(changelog: string, version: string, date: string): string {
  return changelog.replace(unreleasedHead, `## Unreleased\n\n## ${version} - ${date}`);
}

/**
 * Returns the page of a repository on GitHub, such as `https://github.com/ann/petstock`; undefined for any other
 * address.
 * @param remote the address of the repository in git
 */
export function pageOf(remote: string): string | undefined {
  const [, path] =
    /^(?:https:\/\/|ssh:\/\/git@|git@)github\.com[/:]([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(remote) ?? [];
  return path && `https://github.com/${path}`;
}
