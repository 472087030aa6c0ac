import type { Column, Row } from '../../../../output/view.ts';
import type { KeyRecord } from '../../../../service/index.ts';

export const columns: readonly Column[] = [
  { field: 'id', title: 'Id', whole: true },
  { field: 'plan', title: 'Plan' },
  { field: 'limitMinute', title: 'Per minute', align: 'right' },
  { field: 'limitDay', title: 'Per day', align: 'right' },
  { field: 'createdAt', title: 'Created' },
  { field: 'revokedAt', title: 'Revoked' },
];

export function rowOf({ id, plan, limits, createdAt, revokedAt }: KeyRecord): Row {
  const { minute: limitMinute, day: limitDay } = limits;
  return { id, plan, limitMinute, limitDay, createdAt: timeOf(createdAt), revokedAt: timeOf(revokedAt) };
}

function timeOf(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
