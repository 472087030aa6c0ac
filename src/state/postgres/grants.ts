/**
 * The rights that a client needs in the schema `petstock`, and no more. A client can't create or drop anything, remove
 * history, or change who wrote a run. A test checks this (test/state/hostile.test.ts).
 */
const rights: Readonly<Record<string, string>> = {
  meta: 'SELECT',
  epoch: 'SELECT, INSERT',
  sequence: 'SELECT, UPDATE',
  services: 'SELECT, INSERT, UPDATE',
  limits: 'SELECT, INSERT, UPDATE',
  presence: 'SELECT, INSERT, UPDATE, DELETE',
  line: 'SELECT, INSERT, DELETE',
  leases: 'SELECT, INSERT, UPDATE, DELETE',
  sightings: 'SELECT, INSERT, DELETE',
  pruned: 'SELECT',
  runs: `SELECT, INSERT, UPDATE (holder, changes, units, pets, undone, undone_by, discarded, pending, applied, unchanged, failed, conflict, differs, unknown, sequence, touched)`,
  rows: 'SELECT, INSERT, UPDATE (before, after, result, quantity, error, at, boot, expires, lasts, token, sequence, touched, undone_by)',
};

/** Returns SQL, for the owner of the schema, that gives a role the rights that commands need, and PUBLIC none. */
export function grantsFor(role: string): string {
  const name = `"${role.replaceAll('"', '""')}"`;
  const lines = [
    `REVOKE ALL ON SCHEMA petstock FROM PUBLIC;`,
    `GRANT USAGE ON SCHEMA petstock TO ${name};`,
    ...Object.entries(rights).map(([table, right]) => `GRANT ${right} ON petstock.${table} TO ${name};`),
  ];
  return `${lines.join('\n')}\n`;
}
