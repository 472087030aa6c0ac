import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** The address of the client: of the connection, or what proxies that are trusted say. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * @param trusted networks of proxies: `10.0.0.0/8`, `192.0.2.7`, `fd00::/8`. `X-Forwarded-For` is read from its end, for as long as
 * what stands there is one of them: what is before the first other one may be invented.
 * @throws RangeError for what is no network
 */
export function clientAddress(trusted: readonly string[]): ClientAddress {
  if (trusted.length === 0) return ofConnection;
  const proxies = new BlockList();
  for (const network of trusted) addNetwork(proxies, network);
  const isProxy = (address: string) => proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return (request) => {
    let address = ofConnection(request);
    const forwarded = [request.headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
    while (isIP(address) !== 0 && isProxy(address)) {
      const next = plain(forwarded.pop()?.trim() ?? '');
      if (isIP(next) === 0) return address;
      address = next;
    }
    return address;
  };
}

function ofConnection({ socket }: IncomingMessage): string {
  return plain(socket.remoteAddress ?? '');
}

/** Without the port and the brackets that some proxies add; an IPv4 address that came over IPv6 is one of IPv4. */
function plain(address: string): string {
  const bare = /^\[(.*)\](?::\d+)?$/.exec(address)?.[1] ?? address.replace(/^([\d.]+):\d+$/, '$1');
  return bare.replace(/^::ffff:(?=[\d.]+$)/i, '');
}

function addNetwork(proxies: BlockList, network: string): void {
  const [address = '', bits, ...more] = network.split('/');
  const family = isIP(address);
  const most = family === 6 ? 128 : 32;
  const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  if (family === 0 || more.length > 0 || !(length <= most)) {
    throw new RangeError(`"${network}" is not a network such as 10.0.0.0/8`);
  }
  proxies.addSubnet(address, length, family === 6 ? 'ipv6' : 'ipv4');
}
