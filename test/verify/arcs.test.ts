import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allOf, compile, net, place, pure, upTo } from '../../src/net/index.ts';
import { precedes, prove } from '../../src/verify/index.ts';
import { compareArcs } from './arcs.ts';

test('an order of firings that the arcs of a random net show is kept by every run', () => {
  const { confirmed, labeled, unsound } = compareArcs(1, 60, 300);
  assert.deepEqual(unsound, []);
  assert.ok(confirmed > 100 && labeled > 10, `${confirmed} confirmed, ${labeled} with a label`);
});

const orders = place('orders', { environment: true });
const [approved, spare, sent] = [place('approved'), place('spare'), place('sent')];

/** An order is approved once, and sent `most` times at most. */
async function decide(most: number): Promise<readonly [verdict: string, by: string]> {
  const compiled = compile(
    net('orders', {
      transitions: [
        pure('approve', {
          take: { orders },
          give: allOf({ approved: upTo(most, approved) }),
          run: () => ({ approved: [] }),
        }),
        // Passes the token on: no approval gets lost, and none is added.
        pure('keep', { take: { approved }, give: allOf({ spare }), run: () => ({ spare: null }) }),
        pure('send', { take: { spare }, give: allOf({ sent }), run: () => ({ sent: null }) }),
      ],
    }),
  );
  const bounds = { faults: 0, shutdowns: false };
  const ordered = precedes('approve', 'send', { each: true });
  const { results } = await prove(compiled, { properties: [ordered], bounds });
  return [results[0]?.verdict ?? '', results[0]?.by.split(':')[0] ?? ''];
}

test('the arcs count what one event gives, through the places that it passes', async () => {
  assert.deepEqual(await decide(1), ['proved', 'the arcs']);
  assert.deepEqual(await decide(2), ['refuted', 'search']);
});
