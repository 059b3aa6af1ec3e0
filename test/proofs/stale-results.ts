import { staleResults } from '../../examples/cases/nets/stale-results.ts';
import { deadlockFree, placeBound, unreachable } from '../../src/verify/index.ts';
import { withChanged, withoutOutput } from '../cases/net-mutations.ts';
import type { NetProof } from './net-proof.ts';

const never = async (): Promise<never> => new Promise(() => {});
const net = staleResults({ stream: never, tool: never, filler: never });
const bounds = { environment: { 'turn.in': 2 }, upTo: 1, faults: 0 };
/** There is always a token with the current generation. */
const known = unreachable({}, ['generation.latest']);

export const staleResultsProof: NetProof = {
  name: 'case 2, stale results',
  net,
  claims: [
    {
      properties: [placeBound('generation.latest', 1), known, deadlockFree(['generation.latest'])],
      bounds,
    },
  ],
  mutants: [
    {
      that: 'takes the generation without creating the next one',
      net: withoutOutput(net, 'generation.bump', 'generation'),
      property: known,
      bounds,
      shows: /generation\.bump/,
    },
    {
      that: 'takes the generation where it should read it',
      net: withChanged(net, 'chunk.commit', ({ take, read }) => ({
        take: { ...take, ...read },
        read: {},
      })),
      property: known,
      bounds,
      shows: /chunk\.commit/,
    },
  ],
};
