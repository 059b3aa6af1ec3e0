import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queryObjects } from 'node:v8';
import { agent } from '../../agents/index.ts';
import { contentText } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { HostedSession } from './hosted-session.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Session } from '../session/session.ts';
import type { Turn } from '../session/turn.ts';

/** Answers with the number of messages in its request, and the last one. */
const echo = agent({
  name: 'echo',
  model: new ScriptedModel(({ contents }, turn) => ({
    text: `${turn + 1}: ${contentText(contents.at(-1))}`,
  })),
});

async function readAnswer(turn: Turn): Promise<string> {
  let text = '';
  for await (const event of turn)
    if (event.type === 'agent.message') text = contentText(event.content);
  return text;
}

test('idle sessions hold no objects, and each continues with its next message', async () => {
  const clock = new SimulatedClock(1_000);
  await using runtime = await openRuntime({ agents: [echo], clock });
  const handles: Session[] = [];
  for (let n = 0; n < 50; n++) handles.push(await runtime.session(`s${n}`));
  await Promise.all(handles.map(async (session) => readAnswer(session.send('one'))));
  const hosted = (): number => queryObjects(HostedSession, { format: 'count' });
  // Longer than an idle session is kept.
  for (let n = 0; n < 80; n++) {
    clock.advance(500);
    await new Promise(setImmediate);
  }
  assert.equal(hosted(), 0);
  assert.equal(await readAnswer(handles[7]?.send('two') ?? assert.fail()), '2: two');
  assert.equal(hosted(), 1);
});
