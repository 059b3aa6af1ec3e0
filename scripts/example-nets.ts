import { duplexSession } from '../examples/cases/nets/duplex-session.ts';
import { fanOut } from '../examples/cases/nets/fan-out.ts';
import { speculativeRace, withCachedDefault } from '../examples/cases/nets/speculative-race.ts';
import { staleResults } from '../examples/cases/nets/stale-results.ts';
import { optimisticCommit } from '../examples/patterns/nets/optimistic-commit.ts';
import { quorum } from '../examples/patterns/nets/quorum.ts';
import { firstWins } from '../examples/patterns/nets/speculative-race.ts';
import type { Net } from '../src/net/index.ts';
import { compile } from '../src/net/index.ts';
import { diagram } from './shipped-nets.ts';
import type { Diagram } from './shipped-nets.ts';

/** The nets of the cases and the patterns. Nobody runs these: what they call never answers. */
export function exampleNets(): readonly Net[] {
  const never = async (): Promise<never> => new Promise(() => {});
  return [
    fanOut({ classify: never, search: never }),
    staleResults({ stream: never, tool: never, filler: never }),
    withCachedDefault(speculativeRace({ slow: never, fast: never }), ''),
    duplexSession({ ask: never, play: never, runTool: never }),
    firstWins({ a: never, b: never, c: never }),
    quorum(2, { a: never, b: never, c: never }),
    optimisticCommit({ cheap: never, slow: never, isValid: () => true }),
  ];
}

export function exampleDiagrams(): readonly Diagram[] {
  return exampleNets().flatMap((net) => {
    const compiled = compile(net);
    // An interrupt touches everything: it has a picture of its own.
    const isInterrupt = (t: string): boolean => t === 'race.interrupt';
    return [
      diagram(net.name, compiled, { only: (t) => !isInterrupt(t) }),
      ...(net.transitions.some(({ name }) => isInterrupt(name))
        ? [diagram(`${net.name}-interrupt`, compiled, { only: isInterrupt })]
        : []),
    ];
  });
}
