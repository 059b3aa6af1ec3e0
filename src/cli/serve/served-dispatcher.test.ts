import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDispatcher } from './served-dispatcher.ts';

type Values = Parameters<typeof parseDispatcher>[0]['values'];

function parse(values: object): ReturnType<typeof parseDispatcher> {
  return parseDispatcher({
    values: { 'dispatch-key': [], ...values } as unknown as Values,
    env: {},
  });
}

test('without --dispatch there is none', () => {
  assert.equal(parse({}), undefined);
  const others = [
    { 'dispatch-listen': '9080' },
    { 'dispatch-key': ['publickeyv1_1'] },
    { 'dispatch-timeout': '5m' },
  ];
  for (const values of others) assert.throws(() => parse(values), /needs --dispatch restate=URL/);
});

test('an invalid dispatcher is refused by the name of its option', () => {
  assert.throws(() => parse({ dispatch: 'temporal=x' }), /--dispatch must be restate= and the URL/);
  assert.throws(
    () => parse({ dispatch: 'http://user:secret@127.0.0.1' }),
    ({ message }: Error) => !message.includes('secret'),
  );
  assert.throws(() => parse({ dispatch: 'restate=nowhere' }), /--dispatch: ingress/);
  const dispatch = 'restate=http://127.0.0.1:8080';
  assert.throws(() => parse({ dispatch, 'dispatch-listen': 'x' }), /--dispatch-listen must be/);
  for (const address of ['0.0.0.0:9080', '[::]:9080', 'agents:9080'])
    assert.throws(() => parse({ dispatch, 'dispatch-listen': address }), /reachable from other/);
  for (const address of ['9080', '127.0.0.1:0', '[::1]:9080', 'localhost:1'])
    assert.ok(parse({ dispatch, 'dispatch-listen': address }));
  for (const timeout of ['5', '0', '-1s', 'soon'])
    assert.throws(
      () => parse({ dispatch, 'dispatch-timeout': timeout }),
      /--dispatch-timeout must be a duration such as 90s or 10m/,
    );
  assert.ok(parse({ dispatch, 'dispatch-timeout': '5m' }));
});
