/** Every exit code that petstock can end with, by name. Scripts rely on these numbers. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  changes: 3,
  auth: 4,
  unavailable: 5,
  'rate-limited': 6,
  conflict: 7,
  partial: 8,
  'not-found': 9,
  rejected: 10,
  interrupted: 130,
} as const;

export type ExitCodeName = keyof typeof exitCodes;
