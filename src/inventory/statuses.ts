import { type Parsed, parsed, problem, quoted } from '../shared/parsed.ts';

/** The statuses of the specification, in the order in which petstock shows them. */
export const petStatuses = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof petStatuses)[number];

export function isPetStatus(text: string): text is PetStatus {
  return (petStatuses as readonly string[]).includes(text);
}

/** Parses a status, ignoring case. */
export function parsePetStatus(text: string): Parsed<PetStatus> {
  const status = petStatuses.find((known) => known === text.toLowerCase());
  return status === undefined
    ? problem(`${quoted(text)} is not a status. The statuses are ${petStatuses.join(', ')}`)
    : parsed(status);
}

/** Orders available, pending, sold, then unknown statuses by their code units, whatever the locale. */
export function compareStatuses(left: string, right: string): number {
  if (left === right) return 0;
  return statusRank(left) - statusRank(right) || (left < right ? -1 : 1);
}

const knownRanks: ReadonlyMap<string, number> = new Map(petStatuses.map((status, rank) => [status, rank]));

function statusRank(status: string): number {
  return knownRanks.get(status) ?? petStatuses.length;
}
