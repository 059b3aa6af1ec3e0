import assert from 'node:assert/strict';
import { test } from 'node:test';
import { userContent } from '../../core/index.ts';
import type { Content } from '../../core/index.ts';
import { createLateResultPlacer } from './place-late-results.ts';

const user = userContent('Go.');
const text: Content = { role: 'model', parts: [{ text: 'I asked.' }] };
const call: Content = {
  role: 'model',
  parts: ['x', 'y'].map((id) => ({ functionCall: { id, name: 'ask', args: {} } })),
};
const response = (id: string, status: string) => ({
  functionResponse: { id, name: 'ask', response: { status } },
});
const first: Content = { role: 'tool', parts: [response('x', 'pending'), response('y', 'done')] };
const late = (status: string): Content => ({ role: 'user', parts: [response('x', status)] });
const merged = (status: string): Content => ({
  role: 'tool',
  parts: [response('x', status), response('y', 'done')],
});

test('a later result that comes last replaces the first one, and the model continues at the call', () => {
  const place = createLateResultPlacer();
  const contents = [user, call, first, text, late('approved')];
  assert.deepEqual(place(contents), [user, call, merged('approved')]);
  assert.equal(place(contents)[2], place(contents)[2], 'the same object each time');
});

test('in the history, the last result of a call stands at the call, and what followed stays', () => {
  const place = createLateResultPlacer();
  assert.deepEqual(place([user, call, first, text, late('seen'), text, late('denied'), text]), [
    user,
    call,
    merged('denied'),
    text,
    text,
    text,
  ]);
});

test('a result whose call the model is not shown is told as text', () => {
  const [only] = createLateResultPlacer()([late('approved')]);
  assert.deepEqual(only, {
    role: 'user',
    parts: [{ text: 'The call of `ask` has a new result: {"status":"approved"}' }],
  });
});

test('contents without later results are unchanged', () => {
  const contents = [user, call, first, text];
  assert.equal(createLateResultPlacer()(contents), contents);
});
