/** A request target for logs and journals: without its query, and without a key that is where it does not belong. */
export function loggedPath(target: string): string {
  return target.replace(/[?#].*$/s, '').replace(/psk_[^/]*/g, 'psk_…');
}
