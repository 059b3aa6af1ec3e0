/**
 * Whose request it is. Behind a proxy all connections come from the proxy, so of a trusted one the address is taken that
 * it names: the last of `x-forwarded-for` that is no trusted proxy itself, because whoever asks can write the others.
 */
export function clientAddress(
  remote: string,
  forwardedFor: string | undefined,
  trusted: ReadonlySet<string>,
): string {
  const forwarded = (forwardedFor ?? '').split(',').map((one) => normalizeAddress(one.trim()));
  let address = normalizeAddress(remote);
  while (trusted.has(address)) {
    const next = forwarded.pop() ?? '';
    if (next === '') break;
    address = next;
  }
  return address;
}

/** The network that an address counts for: an IPv6 client usually has a whole /64 to choose from. */
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

/** An IPv4 address that came over IPv6 is written as what it is. */
function normalizeAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '').replace(/%.*$/, '');
}
