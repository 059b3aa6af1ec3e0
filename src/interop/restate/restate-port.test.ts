import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as sdk from '@restatedev/restate-sdk/node';
import { parseDriveRequest } from './drive-request.ts';
import { RestateEndpoint } from './restate-endpoint.ts';
import { parseRestateOptions } from './restate-options.ts';

test('Restate discovers the endpoint, and an error of its package is reported', async () => {
  const reported: unknown[] = [];
  const endpoint = await RestateEndpoint.listen({
    sdk,
    settings: parseRestateOptions({ ingress: 'http://127.0.0.1:1', port: 0 }),
    service: 'petrichor.app',
    parse: (value, objectKey) => parseDriveRequest(value, objectKey, 'app'),
    drive: async () => undefined,
    onError: (error) => void reported.push(error),
  });
  try {
    const url = `http://127.0.0.1:${endpoint.port}`;
    const accept = 'application/vnd.restate.endpointmanifest.v4+json';
    const manifest = await fetch(`${url}/discover`, { headers: { accept } });
    assert.equal(manifest.status, 200);
    assert.match(await manifest.text(), /"petrichor\.app"/);
    assert.deepEqual(reported, []);

    const unknown = await fetch(`${url}/invoke/other/drive`, {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.restate.invocation.v5' },
    });
    assert.equal(unknown.status, 404);
    await unknown.body?.cancel();
    assert.match(String(reported[0]), /^Error: Restate: No service found/);
  } finally {
    await endpoint.close();
  }
});
