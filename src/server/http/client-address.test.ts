import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientAddress, clientNetwork } from './client-address.ts';
import { parseTrustedProxies } from './trusted-proxies.ts';

test('a forwarded address is trusted only from a trusted proxy', () => {
  const proxies = parseTrustedProxies(['10.0.0.1', '10.0.0.2']);
  const findAddress = (remote: string, forwarded?: string): string =>
    clientAddress(remote, forwarded, proxies);
  assert.equal(findAddress('1.2.3.4', '9.9.9.9'), '1.2.3.4');
  assert.equal(findAddress('10.0.0.1', '9.9.9.9, 1.2.3.4'), '1.2.3.4');
  assert.equal(findAddress('::ffff:10.0.0.1', '9.9.9.9, 1.2.3.4, 10.0.0.2'), '1.2.3.4');
  assert.equal(findAddress('10.0.0.1'), '10.0.0.1');
  assert.equal(findAddress('10.0.0.1', '10.0.0.2'), '10.0.0.2');
});

test('a range of proxies is trusted, and nothing beside it', () => {
  const proxies = parseTrustedProxies(['10.1.0.0/16', 'fd00::/8', '192.0.2.7']);
  const findAddress = (remote: string): string => clientAddress(remote, '1.2.3.4', proxies);
  for (const proxy of ['10.1.255.9', '::ffff:10.1.0.1', 'fd12::1', '192.0.2.7'])
    assert.equal(findAddress(proxy), '1.2.3.4', proxy);
  for (const other of ['10.2.0.1', 'fe00::1', '192.0.2.8', ''])
    assert.equal(findAddress(other), other, other);
  // Everything before the last address that is not a proxy is from the client.
  assert.equal(clientAddress('10.1.0.1', '9.9.9.9, 1.2.3.4, 10.1.7.7', proxies), '1.2.3.4');
  assert.equal(clientAddress('10.1.0.1', '9.9.9.9, not an address', proxies), 'not an address');
});

test('what is no address and no range is refused', () => {
  for (const wrong of [
    '',
    'proxy.lan',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '::/129',
    '/8',
    'fe80::1%eth0',
    '10.0.0.0/1e1',
  ])
    assert.throws(() => parseTrustedProxies(['127.0.0.1', wrong]), {
      code: 'invalid_input',
      field: 'trustedProxies',
      message: new RegExp(`it has ${JSON.stringify(wrong).replaceAll('.', '\\.')}`),
    });
});

test('an IPv6 client counts by its /64, an IPv4 client by its address', () => {
  assert.equal(clientNetwork('2001:db8:0:1::5'), clientNetwork('2001:0db8::1:ffff:0:0:9'));
  assert.notEqual(clientNetwork('2001:db8:0:1::5'), clientNetwork('2001:db8:0:2::5'));
  assert.equal(clientNetwork('::ffff:1.2.3.4'), clientNetwork('1.2.3.4'));
  assert.notEqual(clientNetwork('1.2.3.4'), clientNetwork('1.2.3.5'));
  assert.equal(clientNetwork('::1'), clientNetwork('0:0:0:0::2'));
});
