/** The parts of a change log after Keep a Changelog that a release needs. */

const unreleasedHead = /^## \[?Unreleased\]?[ \t]*$/im;

/**
 * What is under `## Unreleased`, without the heading.
 * @throws Error where there is no such part, or nothing in it
 */
export function unreleasedNotes(changelog: string): string {
  return partUnder(unreleasedHead, 'Unreleased', changelog);
}

/** The same for a version that was released. */
export function releasedNotes(changelog: string, version: string): string {
  return partUnder(new RegExp(`^## ${version.replaceAll('.', '\\.')} - [\\d-]+$`, 'm'), version, changelog);
}

function partUnder(heading: RegExp, name: string, changelog: string): string {
  const head = heading.exec(changelog);
  if (head === null) throw new Error(`CHANGELOG.md has no part "## ${name}".`);
  const rest = changelog.slice(head.index + head[0].length);
  const end = /^## /m.exec(rest)?.index ?? rest.length;
  const notes = rest.slice(0, end).trim();
  // Headings alone say nothing.
  if (!/^[-*+] |^\d+\. |^[^#\s]/m.test(notes))
    throw new Error(`There is nothing under "## ${name}" in CHANGELOG.md: write what has changed.`);
  return `${notes}\n`;
}

/** The change log with what was unreleased under the version. @param date `2026-01-31` */
export function releasedChangelog(changelog: string, version: string, date: string): string {
  unreleasedNotes(changelog);
  return changelog.replace(unreleasedHead, `## Unreleased\n\n## ${version} - ${date}`);
}
