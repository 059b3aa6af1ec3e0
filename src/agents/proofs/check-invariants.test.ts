import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { ScriptedModel } from '../../models/index.ts';
import { allOf, compile, effect, net, outlet, place, pure } from '../../net/index.ts';
import { tool } from '../../tools/index.ts';
import { agent } from '../llm/define-agent.ts';
import { checkInvariants, InvariantError } from './check-invariants.ts';

const asked = place('asked', { environment: true });
const ended = place('invocation.end', { environment: true });
const transfer = place('transfer', v.string());
const said = outlet('said', v.string());

test('our agents satisfy every invariant of their places', () => {
  const { compiled } = agent({
    name: 'assistant',
    model: new ScriptedModel([]),
    tools: [tool({ name: 'look', description: 'Looks.' })],
  });
  checkInvariants(compiled);
});

test('a custom net is rejected with all of its problems', () => {
  const ask = effect('model.call', {
    take: { asked },
    give: allOf({ transfer }),
    failed: () => ({ transfer: '' }),
    run: async () => ({ transfer: 'x' }),
  });
  const close = pure('close', { take: { ended }, give: allOf({}), run: () => ({}) });
  const say = pure('say', {
    take: { transfer },
    give: allOf({ said }),
    run: ({ transfer }) => ({ said: transfer }),
  });
  const own = compile(net('own', { transitions: [ask, close, say] }));
  checkInvariants(own);
  assert.throws(
    () =>
      checkInvariants(own, {
        endInvocation: { endInvocation: 'invocation.end' },
        transfer: { transfer: 'transfer' },
      }),
    (error: unknown) => {
      assert.ok(error instanceof InvariantError);
      assert.equal(error.code, 'invariant');
      assert.equal(error.problems.length, 2);
      assert.match(error.message, /model\.call.*"say"/s);
      return true;
    },
  );
});
