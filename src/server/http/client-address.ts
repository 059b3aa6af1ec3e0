import type { IsTrustedProxy } from './trusted-proxies.ts';

/**
 * The address of the client that sent a request. All connections through a proxy come from the proxy's address, so for
 * a trusted proxy it is the last entry of `x-forwarded-for` that is not a trusted proxy itself. Earlier entries are
 * ignored, because the client can forge them.
 */
export function clientAddress(
  remote: string,
  forwardedFor: string | undefined,
  isTrusted: IsTrustedProxy,
): string {
  const forwarded = (forwardedFor ?? '').split(',').map((entry) => normalizeAddress(entry.trim()));
  let address = normalizeAddress(remote);
  while (isTrusted(address)) {
    const next = forwarded.pop() ?? '';
    if (next === '') break;
    address = next;
  }
  return address;
}

/**
 * The network that rate limits count an address under. It is the /64 of an IPv6 address, because a client usually
 * controls a whole one, and the address itself for IPv4.
 */
export function clientNetwork(address: string): string {
  const plain = normalizeAddress(address);
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('::');
  const groups = (text: string): readonly string[] => (text === '' ? [] : text.split(':'));
  const [first, last] = [groups(head), groups(tail ?? '')];
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  const whole = tail === undefined ? first : [...first, ...zeros, ...last];
  return whole
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

/** Removes the IPv6 prefix of an IPv4 address, and the zone. */
function normalizeAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '').replace(/%.*$/, '');
}
