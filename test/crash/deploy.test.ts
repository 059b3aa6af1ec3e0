import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogEvent } from '../../src/core/index.ts';
import { ChildHost } from './child-host.ts';
import { HostSequence } from './host-sequence.ts';

const session = 'x';

/** A session whose process, of one variant, is killed while a tool runs; with a letter in its box if there is one. */
async function killMidTurn(lineage: HostSequence, variant: string): Promise<void> {
  const host = await ChildHost.start(lineage.next({ variant }));
  await host.command({ do: 'open', session });
  if (variant !== 'plain')
    await host.command({ do: 'inject', session, place: 'box.letters', value: 'Dear all' });
  const wishes = [
    { name: 'note', text: 'a' },
    { name: 'slow', text: 'held' },
  ] as const;
  await host.command({ do: 'watch', session, from: 0 });
  await host.command({ do: 'send', session, messageId: 'x-m1', requests: wishes });
  await host.holding('held');
  await host.event(session, ({ type }) => type === 'tool.result');
  await host.kill();
}

/** Lets the turn that was killed come to its end. */
async function goOn(host: ChildHost): Promise<void> {
  await host.holding('held');
  await host.command({ do: 'release', text: 'held' });
  await host.command({ do: 'idle', session });
}

const listEvents = (lineage: HostSequence): readonly LogEvent[] =>
  lineage.sessions.get(session)?.events ?? assert.fail();
const listOutcomes = (lineage: HostSequence): readonly string[] =>
  listEvents(lineage).flatMap((event) => (event.type === 'tool.result' ? [event.outcome] : []));

test('a turn that was killed goes on under an agent with a tool more, and may use it', async () => {
  using lineage = new HostSequence();
  await killMidTurn(lineage, 'plain');
  await using host = await ChildHost.start(lineage.next({ variant: 'with-another-tool' }));
  await goOn(host);
  const wishes = [{ name: 'extra', text: 'a' }] as const;
  await host.command({ do: 'send', session, messageId: 'x-m2', requests: wishes });
  await host.command({ do: 'idle', session });
  await host.close();
  // The new tool takes no arguments, and says so.
  assert.deepEqual(listOutcomes(lineage), ['ok', 'ok', 'invalid']);
});

test('a turn that was killed goes on under an agent with a net more, and the log says so', async () => {
  using lineage = new HostSequence();
  await killMidTurn(lineage, 'plain');
  await using host = await ChildHost.start(lineage.next({ variant: 'with-a-box' }));
  await goOn(host);
  await host.close();
  const types = listEvents(lineage).map(({ type }) => type);
  assert.equal(types.filter((type) => type === 'session.upgraded').length, 1);
  assert.deepEqual(listOutcomes(lineage), ['ok', 'ok']);
});

test('a place that was renamed keeps what is in it when the agent says so, also when the process dies once more', async () => {
  using lineage = new HostSequence();
  await killMidTurn(lineage, 'with-a-box');
  const renamed = { variant: 'with-a-renamed-box' };
  {
    await using again = await ChildHost.start(lineage.next(renamed));
    await again.holding('held');
    await again.kill();
  }
  await using host = await ChildHost.start(lineage.next(renamed));
  await goOn(host);
  await host.command({ do: 'watch', session, from: 0 });
  await host.command({ do: 'inject', session, place: 'box.opened', value: 'reader' });
  const isRead = (event: LogEvent): boolean =>
    event.type === 'state.changed' && event.delta['reader'] === 'Dear all';
  await host.event(session, isRead);
  await host.close();
  const types = listEvents(lineage).map(({ type }) => type);
  assert.equal(types.filter((type) => type === 'session.upgraded').length, 1);
  assert.deepEqual(listOutcomes(lineage), ['ok', 'ok']);
});

test('an agent that lost a place is refused by its name; the log is read, inputs wait, and the right agent answers them', async () => {
  using lineage = new HostSequence();
  await killMidTurn(lineage, 'with-a-box');
  const before = listEvents(lineage);
  {
    await using wrong = await ChildHost.start(
      lineage.next({ variant: 'with-a-box-renamed-carelessly' }),
    );
    await assert.rejects(wrong.command({ do: 'open', session }), {
      code: 'net_changed',
      places: ['box.letters'],
    });
    assert.equal((await wrong.command<string[]>({ do: 'log', session })).length, before.length);
    const wishes = [{ name: 'note', text: 'b' }] as const;
    await wrong.command({ do: 'send', session, messageId: 'x-m2', requests: wishes });
    // Other sessions are none the worse.
    await wrong.command({ do: 'work', session: 'y', from: 1, to: 1 });
    await wrong.close();
  }
  assert.deepEqual(listEvents(lineage), before);
  await using right = await ChildHost.start(lineage.next({ variant: 'with-a-box' }));
  await goOn(right);
  await right.close();
  const messages = listEvents(lineage).filter(({ type }) => type === 'user.message');
  assert.equal(messages.length, 2);
  assert.deepEqual(listOutcomes(lineage), ['ok', 'ok', 'ok']);
  assert.deepEqual(lineage.sessions.get(session)?.gaps, []);
});
