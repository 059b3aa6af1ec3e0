import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { allOf, compile, net, place, pure } from '../../net/index.ts';
import type { CompiledNet } from '../../net/index.ts';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { TokenSchemaError } from '../../net/index.ts';
import { Executor, emptyMarking } from '../../net/index.ts';
import { liveAgent } from '../agent/live-agent.ts';
import { ScriptedLive } from '../models/scripted/scripted-live.ts';
import { liveIsSmall } from './live-is-small.ts';
import { replyCalls, replySegment } from './reply-places.ts';
import { id, signalSchema } from './signal-schema.ts';

function netWith(schema: StandardSchemaV1): CompiledNet {
  const input = place('live.frame', schema, { environment: true });
  const drop = pure('frame.drop', { take: { input }, give: allOf({}), run: () => ({}) });
  return compile(net('frames', { in: { input }, transitions: [drop] }));
}

const agent = liveAgent({ name: 'assistant', model: new ScriptedLive({ turns: [] }) });

test('no place of a live agent can hold media', () => {
  assert.deepEqual(liveIsSmall(agent.compiled), []);
});

test('a place that could hold audio is found', () => {
  for (const schema of [
    v.object({ data: v.string() }),
    v.instance(Uint8Array),
    signalSchema({ data: v.string() }),
    signalSchema({ id, frames: v.array(v.instance(Uint8Array)) }),
    signalSchema({ id, data: v.optional(v.unknown()) }),
  ])
    assert.equal(liveIsSmall(netWith(schema)).length, 1);
});

test('a signal with audio, or of more than 64 KB, is rejected', () => {
  const executor = new Executor(agent.compiled, emptyMarking(), { toFiringId: String });
  executor.begin(0);
  const segment = { reply: 'r', window: 1, fromMs: 0, toMs: 100, text: 'Hi.' };
  executor.inject(replySegment.name, segment, 0, 'c:1');
  const call = { id: '1', name: 'tool', args: { text: 'x'.repeat(40_000) } };
  for (const [{ name }, value] of [
    [replySegment, { ...segment, data: 'AAAA' }],
    [replySegment, { ...segment, text: 'x'.repeat(10_001) }],
    [replyCalls, { reply: 'r', calls: [call, call] }],
  ] as const)
    assert.throws(() => executor.inject(name, value, 0, 'c:2'), TokenSchemaError);
});
