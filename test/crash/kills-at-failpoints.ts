import { ChildHost, HostCommandError } from './child-host.ts';
import { HostSequence } from './host-sequence.ts';
import type { Failpoint } from './host-messages.ts';

export interface FailpointKills {
  /** Where a process was killed in a turn, and again while it took up what was left. */
  readonly kills: Readonly<Record<string, number>>;
  readonly turns: number;
  readonly attempts: number;
  readonly unknown: number;
  readonly faults: readonly string[];
}

/**
 * Kills a process at each failpoint of a turn with two tools and an approval, from the making of the session to its
 * last commit; and the next one at a failpoint of taking that session up again.
 * @param every of so many failpoints one is tried; `first` is the first of them.
 */
export async function killAtFailpoints({
  every,
  first,
}: {
  readonly every: number;
  readonly first: number;
}): Promise<FailpointKills> {
  using lineage = new HostSequence();
  const kills: Record<string, number> = {};
  let turn = 0;
  const died = ({ point }: Failpoint, where: string): void => {
    kills[`${point} ${where}`] = (kills[`${point} ${where}`] ?? 0) + 1;
  };
  for (const point of ['before-commit', 'after-commit', 'tool-began', 'tool-did'] as const) {
    for (
      let nth = point.startsWith('tool') ? 1 : first;
      ;
      nth += point.startsWith('tool') ? 1 : every
    ) {
      turn++;
      const inTurn = { point, nth };
      const child = await ChildHost.start(lineage.next());
      await child.command({ do: 'arm', failpoint: inTurn });
      const killed = await isKilledBy(child, `turn-${turn}`);
      await lineage.ended(child);
      if (killed) died(inTurn, 'in a turn');
      // After a start there are joining, taking, the first step with what is run again, and what comes of it.
      const takingUp = {
        point: point.startsWith('tool') ? point : 'after-commit',
        nth: 1 + (turn % 5),
      } as const;
      const heir = new ChildHost(lineage.next({ failpoint: takingUp }));
      if (await isKilledBy(heir, `turn-${turn}`)) died(takingUp, 'when taking up');
      await lineage.ended(heir);
      const last = new ChildHost(lineage.next());
      if (await isKilledBy(last, `turn-${turn}`))
        throw new Error('It was killed by something else.');
      await lineage.ended(last);
      if (!killed) break;
    }
  }
  const events = [...lineage.sessions.values()].flatMap((session) => session.events);
  return {
    kills,
    turns: events.filter(({ type }) => type === 'turn.ended').length,
    attempts: events.filter(({ type }) => type === 'tool.attempt' || type === 'model.attempt')
      .length,
    unknown: events.filter((event) => event.type === 'tool.result' && event.outcome === 'unknown')
      .length,
    faults: lineage.faults,
  };
}

/** Lets the host do the turn, or what is left of it. */
async function isKilledBy(child: ChildHost, session: string): Promise<boolean> {
  try {
    await child.command({ do: 'work', session, from: 1, to: 1 });
    await child.close();
    return false;
  } catch (error) {
    if (!(error instanceof HostCommandError) || error.code !== 'died') throw error;
    const { signal } = await child.exited;
    if (signal !== 'SIGKILL') throw new Error(`It ended by ${signal}`, { cause: error });
    return true;
  }
}
