import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { FetchError } from './fetch-error.ts';
import type { AddressRule } from './public-address.ts';

/** Resolves a host name to its addresses. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/** Resolves a host name with the system's resolver, to all its addresses. */
export const systemResolver: ResolveHost = async (hostname) => {
  const all = await lookup(hostname, { all: true, verbatim: true });
  return all.map(({ address }) => address);
};

/**
 * Resolves a URL's host to the address to connect to. If one of several addresses is refused, the host is refused: its
 * owner may want to reach the internal network.
 * @throws FetchError with `address_refused`, or with `fetch_failed` when the host cannot be resolved
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
      `${hostname} resolves to an address that is not public. Only the public web can be fetched.`,
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
