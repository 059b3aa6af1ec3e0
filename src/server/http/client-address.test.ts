import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientAddress, clientNetwork } from './client-address.ts';

test('a forwarded address is trusted only from a trusted proxy', () => {
  const proxies = new Set(['10.0.0.1', '10.0.0.2']);
  const findAddress = (remote: string, forwarded?: string): string =>
    clientAddress(remote, forwarded, proxies);
  assert.equal(findAddress('1.2.3.4', '9.9.9.9'), '1.2.3.4');
  assert.equal(findAddress('10.0.0.1', '9.9.9.9, 1.2.3.4'), '1.2.3.4');
  assert.equal(findAddress('::ffff:10.0.0.1', '9.9.9.9, 1.2.3.4, 10.0.0.2'), '1.2.3.4');
  assert.equal(findAddress('10.0.0.1'), '10.0.0.1');
  assert.equal(findAddress('10.0.0.1', '10.0.0.2'), '10.0.0.2');
});

test('an IPv6 client counts by its /64, an IPv4 client by its address', () => {
  assert.equal(clientNetwork('2001:db8:0:1::5'), clientNetwork('2001:0db8::1:ffff:0:0:9'));
  assert.notEqual(clientNetwork('2001:db8:0:1::5'), clientNetwork('2001:db8:0:2::5'));
  assert.equal(clientNetwork('::ffff:1.2.3.4'), clientNetwork('1.2.3.4'));
  assert.notEqual(clientNetwork('1.2.3.4'), clientNetwork('1.2.3.5'));
  assert.equal(clientNetwork('::1'), clientNetwork('0:0:0:0::2'));
});
