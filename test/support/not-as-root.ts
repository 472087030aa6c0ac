/**
 * Refuses to run mutants as root. A mutant may do anything: a mutant of the atomic writer once replaced /dev/null.
 * @throws Error if the tests run as root
 */
export default function setup(): void {
  if (process.geteuid?.() === 0) {
    throw new Error('Mutants are not run as root, where they could change the machine: use another user');
  }
}
