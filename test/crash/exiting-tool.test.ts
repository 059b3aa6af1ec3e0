import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChildHost } from './child-host.ts';
import { HostSequence } from './host-sequence.ts';

test('a tool that exits its process is given up after three runs, and its session and all others continue', async () => {
  using hosts = new HostSequence();
  const session = 'bad';
  let exits = 0;
  for (;;) {
    const host = await ChildHost.start(hosts.next());
    if (exits === 0) {
      await host.command({ do: 'open', session });
      const requests = [{ name: 'exit', text: 'now' }] as const;
      await host.command({ do: 'send', session, messageId: 'bad-m1', requests }).catch(() => {});
    }
    // Another session works in each process.
    const working = host.command({ do: 'work', session: `good-${exits}`, from: 1, to: 1 });
    const idle = host.command({ do: 'idle', session });
    const hasExited = await Promise.race([
      host.exited.then(() => true),
      Promise.all([working, idle]).then(
        () => false,
        () => true,
      ),
    ]);
    working.catch(() => {});
    idle.catch(() => {});
    if (hasExited) {
      assert.deepEqual(await host.exited, { code: 7, signal: null });
      exits++;
      assert.ok(exits <= 3, 'the tool is retried forever');
      continue;
    }
    // The session answers its next message.
    const requests = [{ name: 'note', text: 'b' }] as const;
    await host.command({ do: 'send', session, messageId: 'bad-m2', requests });
    await host.command({ do: 'idle', session });
    for (let n = 0; n < exits; n++)
      await host.command({ do: 'work', session: `good-${n}`, from: 1, to: 1 });
    await host.close();
    break;
  }
  assert.equal(exits, 3);
  const { sessions, effects } = hosts.evidence;
  const { events } = sessions.get(session) ?? assert.fail();
  assert.deepEqual(
    events.flatMap((event) =>
      event.type === 'tool.result' ? [`${event.name} ${event.outcome}`] : [],
    ),
    ['exit unknown', 'note ok'],
  );
  assert.equal(effects.filter(({ tool }) => tool === 'exit').length, 3);
  for (const { status, gaps } of sessions.values())
    assert.deepEqual({ status, gaps }, { status: 'idle', gaps: [] });
});
