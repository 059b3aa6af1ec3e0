import type { LogEvent } from '../../src/core/index.ts';
import { ChildHost, HostCommandError } from './child-host.ts';
import { HostSequence } from './host-sequence.ts';

export interface Rounds {
  readonly rounds: number;
  /** How often the approval of each process counted. */
  readonly won: readonly [owner: number, other: number];
  /** How often the other process became the owner. This may happen while no effect is in flight. */
  readonly takeovers: number;
  /** The violations found; empty when every round was correct. */
  readonly faults: readonly string[];
}

/** Lets two processes approve the same call concurrently, while the session runs other calls of the same message. */
export async function approveAtOnce(rounds: number): Promise<Rounds> {
  using hosts = new HostSequence();
  await using owner = await ChildHost.start(hosts.next());
  await using other = await ChildHost.start(hosts.next());
  const faults: string[] = [];
  const won: [number, number] = [0, 0];
  for (let round = 1; round <= rounds; round++) {
    const session = `round-${round}`;
    await owner.command({ do: 'open', session });
    await Promise.all([
      owner.command({ do: 'watch', session, from: 0 }),
      other.command({ do: 'watch', session, from: 0 }),
    ]);
    const requests = [
      { name: 'pay', text: 'once' } as const,
      ...Array.from({ length: 4 }, (_, n) => ({ name: 'note', text: `${n}` }) as const),
    ];
    await owner.command({ do: 'send', session, messageId: `${session}-m1`, requests });
    const isAsked = (event: LogEvent): boolean =>
      event.type === 'tool.call' && event.needs === 'approval';
    // Each approves as soon as it sees the call, while the notes are still being written.
    const approvals = await Promise.allSettled(
      [owner, other].map(async (host) => {
        const call = await host.event(session, isAsked);
        if (call.type !== 'tool.call') throw new Error('unreachable');
        await host.command({ do: 'approve', session, callId: call.callId });
      }),
    );
    await Promise.all(
      [owner, other].map(async (host) => host.event(session, ({ type }) => type === 'turn.ended')),
    );
    const outcomes = approvals.map((one) =>
      one.status === 'fulfilled'
        ? 'won'
        : one.reason instanceof HostCommandError
          ? one.reason.code
          : String(one.reason),
    );
    if (outcomes.toSorted().join() !== 'already_answered,won')
      faults.push(`${session}: the approvals came to ${outcomes.join(', ')}`);
    if (outcomes[0] === 'won') won[0]++;
    else won[1]++;
    if (JSON.stringify(owner.events(session)) !== JSON.stringify(other.events(session)))
      faults.push(`${session}: the two saw different logs`);
    const seen = owner.events(session);
    const results = seen.filter((event) => event.type === 'tool.result' && event.outcome === 'ok');
    if (results.length !== requests.length) faults.push(`${session}: ${results.length} results`);
  }
  await other.close();
  await owner.close();
  const { effects, sessions } = hosts.evidence;
  const began = effects.filter(({ tool, what }) => tool === 'pay' && what === 'began');
  if (began.length !== rounds || new Set(began.map(({ callId }) => callId)).size !== rounds)
    faults.push(`the tool began ${began.length} times in ${rounds} rounds`);
  let takeovers = 0;
  for (const { name, gaps, epoch } of sessions.values()) {
    faults.push(...gaps.map((gap) => `${name}: ${gap}`));
    takeovers += epoch - 1;
  }
  return { rounds, won, takeovers, faults };
}
