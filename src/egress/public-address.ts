import { importOptional } from '../core/internal.ts';
import { isIP } from 'node:net';
import { MissingToolPackageError } from './missing-tool-package-error.ts';

/** True if connections to this IP address are allowed. */
export type AddressRule = (address: string) => boolean;

/** Addresses in public ranges that serve secrets of the machine: the WireServer of Azure. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set(['168.63.129.16']);

/**
 * Loads the rule that allows public addresses only. It refuses private, loopback, link-local, shared, reserved and
 * multicast addresses and metadata services, in both IP versions, and every IPv6 address that embeds an IPv4 address.
 * Text that is not an IP address is refused.
 * @throws MissingToolPackageError when `ipaddr.js` is not installed
 */
export async function loadPublicAddressRule(): Promise<AddressRule> {
  const { default: ipaddr } = await importOptional(
    import('ipaddr.js'),
    (cause) => new MissingToolPackageError('ipaddr.js', { cause }),
  );
  return (address) => {
    // Parsers disagree on short, octal and hexadecimal spellings, so none of them is accepted.
    if (isIP(address) === 0 || !ipaddr.isValid(address)) return false;
    const plain = ipaddr.process(address);
    if (plain.range() !== 'unicast' || METADATA_ADDRESSES.has(plain.toString())) return false;
    // All global IPv6 addresses are in 2000::/3. Other ranges are local, translated or obsolete.
    return plain.kind() === 'ipv4' || ((plain.toByteArray()[0] ?? 0) & 0xe0) === 0x20;
  };
}
