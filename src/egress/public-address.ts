import { isIP } from 'node:net';
import { loadToolPackage } from './missing-tool-package-error.ts';

/** Says of an IP address, as text, whether a tool may connect to it. */
export type AddressRule = (address: string) => boolean;

/** Public by its range, and yet the door to the machine's own secrets: the wire server of Azure. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set(['168.63.129.16']);

/**
 * The rule that takes public addresses only: none that is private, loopback, link-local, shared, reserved, multicast or a
 * metadata service, in either version, and none of IPv6 that stands for one of IPv4. What is no address is not public.
 * @throws MissingToolPackageError when `ipaddr.js` is not installed.
 */
export async function loadPublicAddressRule(): Promise<AddressRule> {
  const { default: ipaddr } = await loadToolPackage('ipaddr.js', import('ipaddr.js'));
  return (address) => {
    // Short, octal and hexadecimal spellings are read differently by different readers: none of them is accepted.
    if (isIP(address) === 0 || !ipaddr.isValid(address)) return false;
    const plain = ipaddr.process(address);
    if (plain.range() !== 'unicast' || METADATA_ADDRESSES.has(plain.toString())) return false;
    // All global addresses of IPv6 are in 2000::/3; the rest is local, translated, or of times gone by.
    return plain.kind() === 'ipv4' || ((plain.toByteArray()[0] ?? 0) & 0xe0) === 0x20;
  };
}
