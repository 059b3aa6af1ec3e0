import { BlockList, isIP } from 'node:net';
import { InvalidInputError } from '../../core/index.ts';

/** Whether an address is that of a trusted proxy. */
export type IsTrustedProxy = (address: string) => boolean;

/**
 * Reads a list of IP addresses and ranges such as `10.0.0.0/8`.
 * @param field the name of the option in errors
 * @throws InvalidInputError for another entry: all requests through that proxy would count for the proxy
 */
export function parseTrustedProxies(
  proxies: readonly string[] = [],
  field: string = 'trustedProxies',
): IsTrustedProxy {
  const trusted = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits, ...more] = proxy.split('/');
    const family = findFamily(address);
    const longest = family === 'ipv6' ? 128 : 32;
    const isRange = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= longest);
    if (family === undefined || !isRange || more.length > 0)
      throw new InvalidInputError(
        field,
        `must list IP addresses and ranges such as 10.0.0.1, ::1 or 10.0.0.0/8, not names; it has ${JSON.stringify(proxy)}.`,
      );
    trusted.addSubnet(address, bits === undefined ? longest : Number(bits), family);
  }
  return (address) => {
    const family = findFamily(address);
    return family !== undefined && trusted.check(address, family);
  };
}

function findFamily(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return undefined;
  return version === 4 ? 'ipv4' : 'ipv6';
}
