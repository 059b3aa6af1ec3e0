import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import * as sdk from '@restatedev/restate-sdk/node';
import { InvalidInputError } from '../../core/index.ts';
import { parseDriveRequest } from './drive-request.ts';
import { RestateEndpoint } from './restate-endpoint.ts';
import { parseRestateOptions } from './restate-options.ts';

const REQUEST = {
  key: { appName: 'app', userId: 'default', sessionId: 's' },
  id: 'uid/0/1',
  attempt: 0,
};

type Handler = (context: { readonly key: string }, request: unknown) => Promise<void>;

/** Opens an endpoint whose drives throw this error, and returns its handler. */
async function openFailing(
  thrown: Error,
): Promise<{ endpoint: RestateEndpoint; drive: Handler; reported: unknown[] }> {
  const reported: unknown[] = [];
  let drive: Handler | undefined;
  const endpoint = await RestateEndpoint.listen({
    sdk: {
      ...sdk,
      object: ((definition: Parameters<typeof sdk.object>[0]) => {
        ({ drive } = definition.handlers as unknown as { readonly drive: Handler });
        return sdk.object(definition);
      }) as typeof sdk.object,
    },
    settings: parseRestateOptions({ ingress: 'http://127.0.0.1:1', port: 0 }),
    service: 'petrichor.app',
    parse: (value, objectKey) => parseDriveRequest(value, objectKey, 'app'),
    drive: async () => {
      throw thrown;
    },
    onError: (error) => void reported.push(error),
  });
  assert.ok(drive);
  return { endpoint, drive, reported };
}

test('Restate gets neither the message nor the stack of an error; this process reports it', async () => {
  const thrown = new Error('connect postgres://user:secret@db');
  const { endpoint, drive, reported } = await openFailing(thrown);
  await assert.rejects(drive({ key: 'app/default/s' }, REQUEST), (error: Error) => {
    assert.ok(!(error instanceof sdk.TerminalError));
    assert.equal(
      error.message,
      'The drive failed (internal_error). The log of its process has the error.',
    );
    assert.deepEqual([error.stack, error.cause], [undefined, undefined]);
    return true;
  });
  assert.deepEqual(reported, [thrown]);
  await endpoint.close();
});

test('a request that can never be done is not repeated', async () => {
  const { endpoint, drive, reported } = await openFailing(new Error('Not called.'));
  await assert.rejects(drive({ key: 'app/default/t' }, REQUEST), sdk.TerminalError);
  assert.deepEqual(reported, []);
  await endpoint.close();
});

test('an agent whose definition is invalid is reported here, and its session is tried again', async () => {
  const thrown = new InvalidInputError('model', 'is not "secret".');
  const { endpoint, drive, reported } = await openFailing(thrown);
  await assert.rejects(drive({ key: 'app/default/s' }, REQUEST), (error: Error) => {
    assert.ok(!(error instanceof sdk.TerminalError));
    assert.doesNotMatch(error.message, /secret/);
    return true;
  });
  assert.deepEqual(reported, [thrown]);
  await endpoint.close();
});

test('a connection without a complete request does not keep the endpoint open', async () => {
  const { endpoint } = await openFailing(new Error('Not called.'));
  const socket = connect(endpoint.port, '127.0.0.1');
  const closed = once(socket, 'close');
  socket.write('POST /invoke/petrichor.app/drive HTTP/1.1\r\nhost: x\r\n');
  socket.write('content-type: application/vnd.restate.invocation.v5\r\ncontent-length: 9\r\n\r\n');
  // The answer to a second request shows that the endpoint has this one.
  assert.equal((await fetch(`http://127.0.0.1:${endpoint.port}/`)).status, 404);
  await endpoint.close();
  await closed;
});
