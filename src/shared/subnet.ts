import { isIP } from 'node:net';

/** A range of addresses, as `BlockList.addSubnet` takes it. */
export interface Subnet {
  readonly address: string;
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Parses an address or a range, such as `192.0.2.7`, `10.0.0.0/8` or `fd00::/8`; undefined for any other text. */
export function parseSubnet(text: string): Subnet | undefined {
  const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  const most = version === 6 ? 128 : 32;
  if (version === 0 || Number(bits ?? 0) > most) return undefined;
  return { address, bits: Number(bits ?? most), family: version === 6 ? 'ipv6' : 'ipv4' };
}
