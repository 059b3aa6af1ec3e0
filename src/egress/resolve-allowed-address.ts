import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { FetchError } from './fetch-error.ts';
import type { AddressRule } from './public-address.ts';

/** Finds the addresses of a name. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/** As the system resolves names, all addresses. */
export const systemResolver: ResolveHost = async (hostname) => {
  const all = await lookup(hostname, { all: true, verbatim: true });
  return all.map(({ address }) => address);
};

/**
 * One address to connect to. A name with several is refused when one of them is: whoever runs it meant to lead inside.
 * @throws FetchError with `address_refused` or `fetch_failed`
 */
export async function resolveAllowedAddress(
  { hostname }: URL,
  resolve: ResolveHost,
  allows: AddressRule,
): Promise<string> {
  const literal = hostname.replace(/^\[(?<address>.*)\]$/, '$<address>');
  const addresses = isIP(literal) === 0 ? await resolveAddresses(hostname, resolve) : [literal];
  const [first] = addresses;
  if (first === undefined) throw new FetchError('fetch_failed', `${hostname} has no address.`);
  if (!addresses.every(allows)) {
    throw new FetchError(
      'address_refused',
      `${hostname} leads to an address that is not public: only the public web can be fetched.`,
    );
  }
  return first;
}

async function resolveAddresses(
  hostname: string,
  resolve: ResolveHost,
): Promise<readonly string[]> {
  try {
    return await resolve(hostname);
  } catch (cause) {
    throw new FetchError('fetch_failed', `${hostname} was not found.`, { cause });
  }
}
