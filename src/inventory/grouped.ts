/** An integer for people: `1,234,567`. Programs and files get plain digits. */
export function grouped(value: number | bigint): string {
  return `${value}`.replace(/\B(?=(?:\d{3})+$)/g, ',');
}
