import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRuntime } from '../../src/runtime/index.ts';
import { mapReader } from './map-reader.ts';
import { recordedTelemetry, formatTree } from './spans.ts';

const caller = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' } as const;

test('a trace continues after kill -9, because the caller’s context was journaled with the message', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-trace-'));
  const store = `sqlite:${join(folder, 'sessions.db')}`;
  try {
    const child = fork(join(import.meta.dirname, 'killable-process.ts'), [
      store,
      new URLSearchParams(caller).toString(),
    ]);
    const exited = once(child, 'exit');
    let before: readonly { readonly name: string; readonly traceId: string }[] = [];
    child.once('message', (spans: typeof before) => {
      before = spans;
      child.kill('SIGKILL');
    });
    await exited;
    assert.ok(before.some(({ name }) => name === 'chat scripted'));
    assert.ok(before.every(({ traceId }) => traceId === caller.traceId));

    const { telemetry, spans } = await recordedTelemetry();
    await using runtime = await openRuntime({
      agents: [mapReader(() => 'a map')],
      store,
      interceptors: [telemetry],
    });
    const session = await runtime.session('s1');
    for await (const event of session.events()) if (event.type === 'turn.ended') break;
    const after = spans();
    assert.deepEqual(formatTree(after.filter(({ name }) => name !== 'commit')), [
      'invocation',
      '  invoke_agent map_reader',
      '    execute_tool read_map',
      '    chat scripted',
    ]);
    assert.ok(after.every((span) => span.spanContext().traceId === caller.traceId));
    const invocation = after.find(({ name }) => name === 'invocation');
    assert.equal(invocation?.parentSpanContext?.spanId, caller.spanId);
    assert.equal(invocation.attributes['petrichor.invocation.resumed'], true);
    const secondAttempt = after.find(({ name }) => name.startsWith('execute_tool'));
    assert.equal(secondAttempt?.attributes['petrichor.attempt'], 2);
  } finally {
    await rm(folder, { recursive: true });
  }
});
