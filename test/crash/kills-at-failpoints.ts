import { ChildHost, HostCommandError } from './child-host.ts';
import { HostSequence } from './host-sequence.ts';
import type { Failpoint } from './host-messages.ts';

export interface FailpointKills {
  /** Number of kills by failpoint, in a turn and during the recovery after it. */
  readonly kills: Readonly<Record<string, number>>;
  readonly turns: number;
  readonly attempts: number;
  readonly unknown: number;
  readonly faults: readonly string[];
}

/**
 * Kills a process at each failpoint of a turn with two tools and an approval, from the creation of the session to its
 * last commit, and kills the next process at a failpoint of the recovery.
 * @param options tries every `every`th failpoint, from number `first`
 */
export async function killAtFailpoints({
  every,
  first,
}: {
  readonly every: number;
  readonly first: number;
}): Promise<FailpointKills> {
  using hosts = new HostSequence();
  const kills: Record<string, number> = {};
  let turn = 0;
  const died = ({ point }: Failpoint, where: string): void => {
    kills[`${point} ${where}`] = (kills[`${point} ${where}`] ?? 0) + 1;
  };
  // The process that ends one turn begins the next.
  let child: ChildHost | undefined;
  for (const point of ['before-commit', 'after-commit', 'tool-began', 'tool-did'] as const) {
    for (
      let nth = point.startsWith('tool') ? 1 : first;
      ;
      nth += point.startsWith('tool') ? 1 : every
    ) {
      turn++;
      const inTurn = { point, nth };
      child ??= await ChildHost.start(hosts.next());
      await child.command({ do: 'arm', failpoint: inTurn });
      const killed = await isKilledBy(child, async (host) => {
        await work(host, turn);
        await host.close();
      });
      await hosts.ended(child);
      child = undefined;
      if (!killed) break;
      died(inTurn, 'in a turn');
      // A start has these commits: join, claim, the first step with the repeated effects, and the steps after it.
      const inRecovery = {
        point: point.startsWith('tool') ? point : 'after-commit',
        nth: 1 + (turn % 5),
      } as const;
      const successor = new ChildHost(hosts.next({ failpoint: inRecovery }));
      const killedAgain = await isKilledBy(successor, async (host) => {
        await work(host, turn);
        await host.close();
      });
      if (killedAgain) died(inRecovery, 'in recovery');
      await hosts.ended(successor);
      child = await ChildHost.start(hosts.next());
      if (await isKilledBy(child, async (host) => work(host, turn)))
        throw new Error('The process was killed without a failpoint.');
    }
  }
  if (child !== undefined) {
    await child.close();
    await hosts.ended(child);
  }
  const events = [...hosts.sessions.values()].flatMap((session) => session.events);
  return {
    kills,
    turns: events.filter(({ type }) => type === 'turn.ended').length,
    attempts: events.filter(({ type }) => type === 'tool.attempt' || type === 'model.attempt')
      .length,
    unknown: events.filter((event) => event.type === 'tool.result' && event.outcome === 'unknown')
      .length,
    faults: hosts.faults,
  };
}

/** Lets the host run the turn, or the rest of it. */
async function work(host: ChildHost, turn: number): Promise<void> {
  await host.command({ do: 'work', session: `turn-${turn}`, from: 1, to: 1 });
}

async function isKilledBy(
  child: ChildHost,
  act: (host: ChildHost) => Promise<void>,
): Promise<boolean> {
  try {
    await act(child);
    return false;
  } catch (error) {
    if (!(error instanceof HostCommandError) || error.code !== 'died') throw error;
    const { signal } = await child.exited;
    if (signal !== 'SIGKILL') throw new Error(`The process ended by ${signal}`, { cause: error });
    return true;
  }
}
