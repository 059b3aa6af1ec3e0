import { fanOut } from '../../examples/cases/nets/fan-out.ts';
import { atMostOnce, deadlockFree, placeBound, unreachable } from '../../src/verify/index.ts';
import type { Property } from '../../src/verify/index.ts';
import { withoutInhibitor, withoutReset } from '../cases/net-mutations.ts';
import type { NetProof } from './net-proof.ts';

const never = async (): Promise<never> => new Promise(() => {});
const net = fanOut({ classify: never, search: never });
const faults = ['net.fault', 'net.fault.unhandled'];
const bounds = { environment: { 'turn.in': 2, 'status.in': 1 }, upTo: 2 };
/** No part of a batch outlives its collector. A fault holds the tokens that it took. */
const ofItsBatch = (place: string): Property => unreachable(place, ['batch.collector', ...faults]);

export const fanOutProof: NetProof = {
  name: 'case 1, fan-out',
  net,
  claims: [
    {
      properties: [
        placeBound('batch.collector', 1),
        atMostOnce('batch.answer', { per: 'turn.in' }),
        ofItsBatch('search.job'),
        ofItsBatch('running(search.run)'),
        ofItsBatch('search.result'),
      ],
      bounds,
    },
    // Whether a collector reaches its expected count depends on values, so the test of the case checks it.
    { properties: [deadlockFree(['batch.collector'])], bounds: { ...bounds, faults: 0 } },
  ],
  mutants: [
    {
      that: 'begins a turn and forgets a worker',
      net: withoutReset(net, 'turn.begin', 'running(search.run)'),
      property: ofItsBatch('running(search.run)'),
      bounds,
      shows: /turn\.begin/,
    },
    {
      that: 'begins a turn and forgets a result',
      net: withoutReset(net, 'turn.begin', 'search.result'),
      property: ofItsBatch('search.result'),
      bounds,
    },
    {
      that: 'answers without waiting for its workers',
      net: withoutInhibitor(net, 'batch.answer', 'running(search.run)'),
      property: ofItsBatch('running(search.run)'),
      bounds,
    },
  ],
};
