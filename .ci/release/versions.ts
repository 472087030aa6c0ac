import { createRequire } from 'node:module';

/** Semantic Versioning, as npm reads it. */
const { gt, valid } = createRequire(import.meta.url)('semver');

/** @throws Error if `wanted` is no version, has something behind a `+`, or does not come after `current` */
export function requireNextVersion(wanted: string, current: string): void {
  if (valid(wanted) !== wanted) throw new Error(`"${wanted}" is not a version: it must be like 1.2.3 or 1.2.3-rc.1.`);
  if (!gt(wanted, current)) throw new Error(`${wanted} does not come after ${current}, the version in package.json.`);
}

const unreleasedHead = /^## \[?Unreleased\]?[ \t]*$/im;

/**
 * Returns what a change log after Keep a Changelog has under `## Unreleased` or the heading of a released version, without it.
 * @throws Error if there is no such part, or nothing in it
 */
export function notesOf(changelog: string, version?: string): string {
  const released = new RegExp(`^## ${version?.replaceAll('.', '\\.')} - [\\d-]+$`, 'm');
  const [, rest] = changelog.split(version === undefined ? unreleasedHead : released, 2);
  const name = version ?? 'Unreleased';
  if (rest === undefined) throw new Error(`CHANGELOG.md has no part "## ${name}".`);
  const notes = rest.split(/^## /m, 1).join().trim();
  // Headings alone say nothing.
  if (!/^[-*+] |^\d+\. |^[^#\s]/m.test(notes))
    throw new Error(`There is nothing under "## ${name}" in CHANGELOG.md: write what has changed.`);
  return `${notes}\n`;
}

/** The change log with what was unreleased under the version. @param date `2026-01-31` */
export function releasedChangelog(changelog: string, version: string, date: string): string {
  return changelog.replace(unreleasedHead, `## Unreleased\n\n## ${version} - ${date}`);
}

/** Returns the page of a repository at GitHub: `https://github.com/ann/petstock`. @param remote its address as git has it */
export function pageOf(remote: string): string | undefined {
  const [, path] =
    /^(?:https:\/\/|ssh:\/\/git@|git@)github\.com[/:]([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(remote) ?? [];
  return path && `https://github.com/${path}`;
}
