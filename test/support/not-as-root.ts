/**
 * A mutant does what no reader has seen: one of the atomic writer, as root, has replaced /dev/null by a file.
 * @throws where the tests run as root
 */
export default function setup(): void {
  if (process.geteuid?.() === 0) {
    throw new Error('Mutants are not run as root, where they could change the machine: use another user');
  }
}
