import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRestateOptions, toServiceName } from './restate-options.ts';

const ingress = 'http://127.0.0.1:8080';

test('the defaults are those of a Restate server on this machine', () => {
  assert.deepEqual(parseRestateOptions({ ingress: `${ingress}/` }), {
    ingress,
    port: 9080,
    hostname: '127.0.0.1',
    identityKeys: [],
    token: undefined,
    service: undefined,
    maxDriveMs: 600_000,
  });
});

test('an address that others reach needs the public key of Restate', () => {
  const invalid = { code: 'invalid_input', field: 'hostname' };
  assert.throws(() => parseRestateOptions({ ingress, hostname: '0.0.0.0' }), invalid);
  const identityKeys = ['publickeyv1_1'];
  assert.equal(
    parseRestateOptions({ ingress, hostname: '0.0.0.0', identityKeys }).hostname,
    '0.0.0.0',
  );
});

test('each invalid option is named', () => {
  const cases: readonly (readonly [string, object])[] = [
    ['ingress', { ingress: 'ftp://127.0.0.1' }],
    ['ingress', { ingress: 'http://user:secret@127.0.0.1' }],
    ['ingress', { ingress: 'http://127.0.0.1/?a=1' }],
    ['port', { ingress, port: 65_536 }],
    ['port', { ingress, port: 1.5 }],
    ['maxDriveMs', { ingress, maxDriveMs: 0 }],
    ['identityKeys', { ingress, identityKeys: ['key'] }],
    ['service', { ingress, service: 'a b' }],
    ['token', { ingress, token: 'secret\nline' }],
    ['token', { ingress, token: '' }],
    ['restateDispatcher.more', { ingress, more: 1 }],
  ];
  for (const [field, options] of cases)
    assert.throws(
      () => parseRestateOptions(options as Parameters<typeof parseRestateOptions>[0]),
      (error: Error & { field?: string }) =>
        error.field === field && !error.message.includes('secret'),
      field,
    );
});

test('the service is named after the application', () => {
  assert.equal(toServiceName('managed'), 'petrichor.managed');
  assert.throws(() => toServiceName('my app'), { field: 'service' });
});
