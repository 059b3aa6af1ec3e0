import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChildHost } from './child-host.ts';
import { HostSequence } from './host-sequence.ts';

test('a tool that ends its process each time is given up after three runs, and everything else continues', async () => {
  using hosts = new HostSequence();
  const session = 'bad';
  let deaths = 0;
  for (;;) {
    const host = await ChildHost.start(hosts.next());
    if (deaths === 0) {
      await host.command({ do: 'open', session });
      const requests = [{ name: 'exit', text: 'now' }] as const;
      await host.command({ do: 'send', session, messageId: 'bad-m1', requests }).catch(() => {});
    }
    // In each process another session does its work.
    const good = host.command({ do: 'work', session: `good-${deaths}`, from: 1, to: 1 });
    const idle = host.command({ do: 'idle', session });
    const died = await Promise.race([
      host.exited.then(() => true),
      Promise.all([good, idle]).then(
        () => false,
        () => true,
      ),
    ]);
    good.catch(() => {});
    idle.catch(() => {});
    if (died) {
      assert.deepEqual(await host.exited, { code: 7, signal: null });
      deaths++;
      assert.ok(deaths <= 3, 'the tool is retried forever');
      continue;
    }
    // The session itself also answers its next message.
    const requests = [{ name: 'note', text: 'b' }] as const;
    await host.command({ do: 'send', session, messageId: 'bad-m2', requests });
    await host.command({ do: 'idle', session });
    for (let n = 0; n < deaths; n++)
      await host.command({ do: 'work', session: `good-${n}`, from: 1, to: 1 });
    await host.close();
    break;
  }
  assert.equal(deaths, 3);
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
