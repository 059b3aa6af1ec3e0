import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogEvent } from '../../src/core/index.ts';
import { ChildHost } from './child-host.ts';
import { HostSequence } from './host-sequence.ts';

const session = 'x';

/** Kills a process of one variant while a tool runs, with a letter in its box if it has one. */
async function killMidTurn(hosts: HostSequence, variant: string): Promise<void> {
  const host = await ChildHost.start(hosts.next({ variant }));
  await host.command({ do: 'open', session });
  if (variant !== 'plain')
    await host.command({ do: 'inject', session, place: 'box.letters', value: 'Dear all' });
  const requests = [
    { name: 'note', text: 'a' },
    { name: 'slow', text: 'held' },
  ] as const;
  await host.command({ do: 'watch', session, from: 0 });
  await host.command({ do: 'send', session, messageId: 'x-m1', requests });
  await host.holding('held');
  await host.event(session, ({ type }) => type === 'tool.result');
  await host.kill();
}

/** Lets the interrupted turn finish. */
async function finishTurn(host: ChildHost): Promise<void> {
  await host.holding('held');
  await host.command({ do: 'release', text: 'held' });
  await host.command({ do: 'idle', session });
}

const listEvents = (hosts: HostSequence): readonly LogEvent[] =>
  hosts.sessions.get(session)?.events ?? assert.fail();
const listOutcomes = (hosts: HostSequence): readonly string[] =>
  listEvents(hosts).flatMap((event) => (event.type === 'tool.result' ? [event.outcome] : []));

test('an interrupted turn continues under an agent version with an additional tool, which later turns can call', async () => {
  using hosts = new HostSequence();
  await killMidTurn(hosts, 'plain');
  await using host = await ChildHost.start(hosts.next({ variant: 'with-another-tool' }));
  await finishTurn(host);
  const requests = [{ name: 'extra', text: 'a' }] as const;
  await host.command({ do: 'send', session, messageId: 'x-m2', requests });
  await host.command({ do: 'idle', session });
  await host.close();
  // The new tool takes no arguments, so its call is invalid.
  assert.deepEqual(listOutcomes(hosts), ['ok', 'ok', 'invalid']);
});

test('an interrupted turn continues under an agent version with another net, and the log has one session.upgraded event', async () => {
  using hosts = new HostSequence();
  await killMidTurn(hosts, 'plain');
  await using host = await ChildHost.start(hosts.next({ variant: 'with-a-box' }));
  await finishTurn(host);
  await host.close();
  const types = listEvents(hosts).map(({ type }) => type);
  assert.equal(types.filter((type) => type === 'session.upgraded').length, 1);
  assert.deepEqual(listOutcomes(hosts), ['ok', 'ok']);
});

test('a renamed place keeps its tokens if the agent maps it, also after another crash', async () => {
  using hosts = new HostSequence();
  await killMidTurn(hosts, 'with-a-box');
  const renamed = { variant: 'with-a-renamed-box' };
  {
    await using renamedHost = await ChildHost.start(hosts.next(renamed));
    await renamedHost.holding('held');
    await renamedHost.kill();
  }
  await using host = await ChildHost.start(hosts.next(renamed));
  await finishTurn(host);
  await host.command({ do: 'watch', session, from: 0 });
  await host.command({ do: 'inject', session, place: 'box.opened', value: 'reader' });
  const isRead = (event: LogEvent): boolean =>
    event.type === 'state.changed' && event.delta['reader'] === 'Dear all';
  await host.event(session, isRead);
  await host.close();
  const types = listEvents(hosts).map(({ type }) => type);
  assert.equal(types.filter((type) => type === 'session.upgraded').length, 1);
  assert.deepEqual(listOutcomes(hosts), ['ok', 'ok']);
});

test('a process of a version that lacks a place with tokens leaves an interrupted turn to the right version, while both run', async () => {
  using hosts = new HostSequence();
  await killMidTurn(hosts, 'with-a-box');
  await using withoutPlace = await ChildHost.start(
    hosts.next({ variant: 'with-a-box-renamed-carelessly' }),
  );
  const refusal = { code: 'net_changed', places: ['box.letters'] };
  await assert.rejects(withoutPlace.command({ do: 'open', session }), refusal);
  await using withPlace = await ChildHost.start(hosts.next({ variant: 'with-a-box' }));
  await finishTurn(withPlace);
  await assert.rejects(withoutPlace.command({ do: 'open', session }), refusal);
  // A message through the process that cannot run the session is answered by the other.
  await withPlace.command({ do: 'watch', session, from: 0 });
  const requests = [{ name: 'note', text: 'b' }] as const;
  await withoutPlace.command({ do: 'send', session, messageId: 'x-m2', requests });
  const isSecondTurn = (event: LogEvent): boolean =>
    event.type === 'turn.ended' &&
    withPlace.events(session).filter(({ type }) => type === 'turn.ended').length === 2;
  await withPlace.event(session, isSecondTurn);
  await withPlace.close();
  await withoutPlace.close();
  assert.deepEqual(listOutcomes(hosts), ['ok', 'ok', 'ok']);
  assert.deepEqual(hosts.sessions.get(session)?.gaps, []);
});

test('an agent version that lacks a place with tokens is rejected with net_changed, and the session continues under the right version', async () => {
  using hosts = new HostSequence();
  await killMidTurn(hosts, 'with-a-box');
  const before = listEvents(hosts);
  {
    await using withoutPlace = await ChildHost.start(
      hosts.next({ variant: 'with-a-box-renamed-carelessly' }),
    );
    await assert.rejects(withoutPlace.command({ do: 'open', session }), {
      code: 'net_changed',
      places: ['box.letters'],
    });
    assert.equal(
      (await withoutPlace.command<string[]>({ do: 'log', session })).length,
      before.length,
    );
    const requests = [{ name: 'note', text: 'b' }] as const;
    await withoutPlace.command({ do: 'send', session, messageId: 'x-m2', requests });
    // Other sessions are not affected.
    await withoutPlace.command({ do: 'work', session: 'y', from: 1, to: 1 });
    await withoutPlace.close();
  }
  assert.deepEqual(listEvents(hosts), before);
  await using withPlace = await ChildHost.start(hosts.next({ variant: 'with-a-box' }));
  await finishTurn(withPlace);
  await withPlace.close();
  const messages = listEvents(hosts).filter(({ type }) => type === 'user.message');
  assert.equal(messages.length, 2);
  assert.deepEqual(listOutcomes(hosts), ['ok', 'ok', 'ok']);
  assert.deepEqual(hosts.sessions.get(session)?.gaps, []);
});
