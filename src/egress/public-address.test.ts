import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPublicAddressRule } from './public-address.ts';

const refused: readonly string[] = [
  '127.0.0.1',
  '127.8.8.8',
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '100.100.100.200',
  '192.0.0.192',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '168.63.129.16',
  '::',
  '::1',
  'fe80::1',
  'fe80::1%eth0',
  'fc00::1',
  'fd00:ec2::254',
  'fec0::1',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:10.0.0.1',
  '::ffff:a9fe:a9fe',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::a00:1',
  '2002:7f00:1::',
  '2002:a9fe:a9fe::1',
  '2001::1',
  '2001:db8::1',
  '100::1',
  // Other spellings, and text that is not an address.
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '127.1',
  '010.0.0.1',
  '8.8.8',
  '',
  'localhost',
  '8.8.8.8.',
];

test('an address that is private, local, reserved, translated or in an unusual notation is not public', async () => {
  const isPublic = await loadPublicAddressRule();
  assert.deepEqual(refused.filter(isPublic), []);
});

test('public IPv4 and IPv6 addresses are public', async () => {
  const isPublic = await loadPublicAddressRule();
  const taken = ['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'];
  assert.deepEqual(taken.filter(isPublic), taken);
});
